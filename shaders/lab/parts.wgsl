// A triangle test and a walk. The host substitutes other imports here. Each test defines LabRay, lab_ray and
// lab_intersect, and each walk defines lab_walk, so any two can be combined.
#import "lab/test_plucker.wgsl"
#import "lab/walk_private.wgsl"
