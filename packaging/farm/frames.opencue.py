"""A sequence as a job of OpenCue, a frame for each picture. Needs OpenCue's PyOutline.

    python3 frames.opencue.py fox.glb 'fox-{frame:4}.exr' 0-99 256
"""

import sys

import outline
import outline.cuerun
import outline.modules.shell

scene, output, frames, paths = sys.argv[1:]
job = outline.Outline("canopy", shot="shot", show="testing")
# OpenCue puts the number of the frame in place of #IFRAME#.
command = ["canopy", "render", scene, "-o", output, "--frames", "#IFRAME#-#IFRAME#", "--paths", paths]
job.add_layer(
    outline.modules.shell.Shell("frames", command=command + ["--skip-existing", "-q"], range=frames)
)
outline.cuerun.launch(job, use_pycuerun=False)
