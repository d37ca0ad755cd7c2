// trace_portable: the queries of trace.wgsl with the traversal of software adapters, to compare the two on a GPU.
#import "bvh/software/bvh_rays.wgsl"
#import "bvh/query/trace.wgsl"
