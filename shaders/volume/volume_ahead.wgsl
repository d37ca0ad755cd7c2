// What lies in front of things that are drawn over the picture, which knows nothing of them: fog and volumes. The
// importer binds what fog_air.wgsl asks for; `volume_layers`, what volume_march makes of each volume, the farthest
// first; and `volume_spans`, two layers for each: the distances between which the volume is seen, zeros for none.
#import "fog/fog_air.wgsl"

// The share of light that comes through, and of the volume's radiance what is in front, up to a share `s` of the
// way through what is seen of it, as if that were even.
fn volume_part(through: f32, s: f32) -> vec2f {
    let kept = exp(s * log(max(through, 6.0e-8)));
    let taken = 1.0 - through;
    return vec2f(kept, select(s, (1.0 - kept) / taken, taken > 1.0e-4));
}

// What is laid over a picture P with volumes in front, and covers the share a of it, has to give V + T((1 − a)B + aF),
// where B is P without the volumes in front of the thing: P = V + TB. That is (1 − a)P + a(V + TF): the thing is
// seen through them, and they are added once more where it covers them.
fn air_ahead(pixel: vec2u, position: vec3f) -> Air {
    var air = fog_air(pixel, position);
    if any(pixel >= textureDimensions(volume_spans)) {
        return air;
    }
    let offset = position - frame.eye;
    let distance = select(length(offset), dot(offset, frame.forward), frame.orthographic != 0u);
    for (var i = 0u; i < textureNumLayers(volume_layers); i++) {
        let first = textureLoad(volume_spans, pixel, 2u * i).r;
        let end = textureLoad(volume_spans, pixel, 2u * i + 1u).r;
        if end == 0.0 || distance <= first {
            continue;
        }
        let seen = textureLoad(volume_layers, pixel, i);
        let part = volume_part(seen.a, saturate((distance - first) / max(end - first, 1.0e-30)));
        air = Air(part.y * seen.rgb + part.x * air.scattered, part.x * air.transmittance);
    }
    return air;
}
