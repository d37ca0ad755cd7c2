// A triangle test and a walk. The host replaces these imports by others. Each test defines LabRay, lab_ray and
// lab_intersect, and each walk defines lab_walk, so any test can be combined with any walk.
#import "lab/test_plucker.wgsl"
#import "lab/walk_private.wgsl"
