// blend_points_lines: draws points and lines with alpha blending, in back-to-front order with the surfaces of `blend`.
//
// in   the merged scene (group 2), one material (group 3), lights and shadow maps (group 0), fog and volumes in front
//      (group 1)
// out  hdr: alpha-blended radiance; display: alpha-blended base colour of unlit points and lines
// Points and lines trace no shadow rays, so in ray mode they are unshadowed.
#import "material/blended.wgsl"
#import "material/brdf.wgsl"
#import "light/light_table.wgsl"
#import "material/points_lines.wgsl"
#import "math/sampling.wgsl"
#import "shadow/shadow_map.wgsl"
#import "volume/volume_ahead.wgsl"

@group(1) @binding(5) var<uniform> fog: FogParams;
@group(1) @binding(6) var fog_texture: texture_2d_array<f32>;
@group(1) @binding(7) var fog_sampler: sampler;
@group(1) @binding(8) var volume_layers: texture_storage_2d_array<rgba16float, read>;
@group(1) @binding(9) var volume_spans: texture_storage_2d_array<r32float, read>;

@fragment
fn blend_points_lines(in: Fragment) -> Blended {
    let base_color = material_base_color(in.uv, in.color);
    let s = segment_surface(in, base_color);
    let to_eye = frame_to_eye(s.position);
    var radiance = s.emissive;
    if !s.unlit {
        radiance += brdf_ambient(s, to_eye, ambient_unoccluded(s.normal), reflected_nothing());
        let eye = brdf_eye(s, to_eye, 0.0);
        let pixel = vec2u(in.clip.xy);
        let number = sampling_point(pixel, frame.sample_index, SAMPLE_BLENDED_CHOICE).y;
        let u = light_tree_number(number, pixel, frame.sample_index);
        for (var i = 0u; i < frame.light_candidates; i++) {
            let candidate = light_candidate(i, frame.light_candidates, s.position, s.normal, u);
            let light = light_at(candidate.index);
            let sample = light_sample(light, s.position);
            if light_reaches(sample) && dot(s.normal, sample.to_light) > 0.0 {
                var visible = candidate.weight;
                if frame.shadow_mode == SHADOWS_MAP {
                    visible *= shadow_map_visibility(light, sample, pixel, s.position, s.normal);
                }
                radiance += brdf_evaluate(s, eye, to_eye, sample.to_light) * sample.irradiance * visible;
            }
        }
    }
    let alpha = saturate(base_color.a);
    let media = media_in_front(vec2u(in.clip.xy), s.position);
    let seen = min(fog_applied(media, min(radiance, vec3f(RADIANCE_MAX))), vec3f(RADIANCE_MAX));
    let shown = select(vec3f(0.0), media.transmittance * saturate(s.albedo), s.unlit);
    return Blended(vec4f(seen, alpha), vec4f(shown, alpha));
}
