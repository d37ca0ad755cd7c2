// Ambient visibility of a pixel's surface, read from `occlusion_words`, or unoccluded if no rays are traced. The
// importer binds the buffer.
#import "frame/frame.wgsl"
#import "frame/ambient_visibility.wgsl"

fn ambient_visibility_at(pixel: vec2u, normal: vec3f) -> AmbientVisibility {
    if frame.occlusion == 0u {
        return ambient_unoccluded(normal);
    }
    let words = occlusion_words[pixel.y * frame.size.x + pixel.x];
    if frame.all_bounces == 0u {
        return ambient_visibility_unpack(words);
    }
    return ambient_complete_unpack(words, normal);
}
