// A triangle test and a walk. The host puts other imports here: each test defines LabRay, lab_ray and
// lab_intersect, each walk lab_walk, so that any two fit together.
#import "lab/test_plucker.wgsl"
#import "lab/walk_private.wgsl"
