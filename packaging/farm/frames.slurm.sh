#!/bin/sh
#SBATCH --job-name=canopy
#SBATCH --array=1-20
#SBATCH --gpus-per-task=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --output=canopy-%A_%a.log
#
# A sequence as a Slurm array: each task draws an equal share of the frames. Frames that are there are left.
#
#   export SCENE=fox.glb OUTPUT='fox-{frame:4}.exr' FRAMES=100 PATHS=256
#   sbatch frames.slurm.sh
set -eu
# Words of OPTIONS are separated by spaces.
exec canopy render "$SCENE" -o "$OUTPUT" --frames "$FRAMES" --paths "$PATHS" \
    --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_MAX" --skip-existing -q ${OPTIONS:-}
