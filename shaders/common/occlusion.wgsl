// What of the light from everywhere arrives at a pixel's surface: as rays have found out (`occlusion_words`, which the importer binds), or all.
#import "common/frame.wgsl"
#import "common/open.wgsl"
#import "common/unseen.wgsl"

fn occlusion_at(pixel: vec2u, normal: vec3f) -> Open {
    if frame.occlusion + unseen_zero(f32(pixel.x)) == 0u {
        return open_wholly(normal);
    }
    return open_unpack(occlusion_words[pixel.y * frame.size.x + pixel.x]);
}
