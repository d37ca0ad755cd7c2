// Fog and volumes in front of surfaces that are drawn over the picture later. The importer binds the inputs of
// fog_air.wgsl; `volume_layers`, the result of volume_march for each volume, farthest first; and `volume_spans`, two
// layers per volume, with the distances between which the volume is visible, or zeros.
#import "fog/fog_air.wgsl"

// Returns the transmittance of the first fraction `s` of a volume's visible span, and the fraction of the volume's
// radiance from that part of the span. The span is taken as homogeneous.
fn volume_part(through: f32, s: f32) -> vec2f {
    let kept = exp(s * log(max(through, 6.0e-8)));
    let taken = 1.0 - through;
    return vec2f(kept, select(s, (1.0 - kept) / taken, taken > 1.0e-4));
}

// Returns the fog and volumes to apply to a surface with coverage a and radiance F that is blended over the picture P.
// P already contains the volumes in front, so P = V + TB. The result must be V + T((1 − a)B + aF) = (1 − a)P + a(V +
// TF). The surface is therefore seen through the volumes, and they are added again where it covers them.
fn media_in_front(pixel: vec2u, position: vec3f) -> FogSegment {
    var media = fog_in_front_of(pixel, position);
    if any(pixel >= textureDimensions(volume_spans)) {
        return media;
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
        media = FogSegment(part.y * seen.rgb + part.x * media.scattered, part.x * media.transmittance);
    }
    return media;
}
