#!/bin/sh
#SBATCH --job-name=canopy
#SBATCH --array=1-8
#SBATCH --gpus-per-task=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --output=canopy-%A_%a.log
#
# One picture as a Slurm array: each task traces a part of its samples. What was ended goes on when it is
# requeued. The parts are joined by a job that waits for all of them:
#
#   export SCENE=fox.glb OUTPUT=fox PATHS=65536
#   job=$(sbatch --parsable samples.slurm.sh)
#   sbatch --dependency=afterok:$job --wrap 'canopy merge fox.part-*.exr -o fox.exr'
set -eu
part=$SLURM_ARRAY_TASK_ID
# The array begins with 1: then its last task is their number.
parts=$SLURM_ARRAY_TASK_MAX
# Words of OPTIONS are separated by spaces.
exec canopy render "$SCENE" -o "$OUTPUT.part-$part.exr" --part "$part/$parts" --paths "$PATHS" \
    --checkpoint "$OUTPUT.checkpoint-$part.exr" --skip-existing -q ${OPTIONS:-}
