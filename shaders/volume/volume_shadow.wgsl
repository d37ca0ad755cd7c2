// volume_shadow: attenuates the lights that surfaces see by the volume in between, one thread per pixel.
//
// in   the volume, position of the G-buffer, the merged scene (group 2) with the table of lights
// both shadow_words: the visible fraction in each slot, times the transmittance of the volume; with shadow maps, the
//      fraction that volumes block, which is zero before the first volume
// Rays that miss the volume's box cost only that test.
#import "shadow/chosen_lights.wgsl"
#import "frame/frame.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "light/light_table.wgsl"
#import "shadow/shadow_words.wgsl"
#import "volume/volume.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<storage, read> volume: VolumeParams;
@group(1) @binding(2) var position_texture: texture_2d<f32>;
@group(1) @binding(3) var density_texture: texture_3d<f32>;
@group(1) @binding(4) var majorant_texture: texture_3d<f32>;
@group(1) @binding(5) var volume_sampler: sampler;
@group(1) @binding(6) var<storage, read_write> shadow_words: array<u32>;

@compute @workgroup_size(8, 8)
fn volume_shadow(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel);
    if position.w == 0.0 {
        return;
    }
    for (var slot = 0u; slot < frame.light_slots; slot++) {
        let word = shadow_word(slot, pixel);
        let before = shadow_words[word];
        let found = shadow_share_unpack(before, slot);
        let share = select(found, 1.0 - found, frame.volume_shadows != 0u);
        if share > 0.0 {
            let chosen = chosen_light(slot, shadow_words[chosen_light_word(slot, pixel)]);
            let sample = light_sample(light_at(chosen.light), position.xyz);
            let through = volume_transmittance(position.xyz, sample.to_light, sample.distance);
            let kept = before & ~(255u << (8u * (slot % 4u)));
            let left = select(share * through, 1.0 - share * through, frame.volume_shadows != 0u);
            shadow_words[word] = kept | shadow_share_pack(left, slot);
        }
    }
}
