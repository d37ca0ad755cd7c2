// Reconstructs the hit of a reflection ray as a fragment of its triangle.
#import "frame/gbuffer_ids.wgsl"
#import "material/material_surface.wgsl"

struct HitFragment {
    fragment: Fragment,
    front: bool,
    // Mip level for each UV set in a texture of one texel: half the binary logarithm of the texels that the ray's
    // footprint covers (Akenine-Möller et al. 2021, "Improved Shader and Texture Level of Detail Using Ray Cones",
    // section 2).
    levels: vec2f,
}

fn hit_fragment(surface_id: u32, barycentric: vec2f, direction: vec3f, width: f32) -> HitFragment {
    let triangle = gbuffer_triangle(surface_id);
    let i = vec3u(indices(3u * triangle), indices(3u * triangle + 1u), indices(3u * triangle + 2u));
    let w = vec3f(1.0 - barycentric.x - barycentric.y, barycentric);
    let v0 = scene_position(i.x);
    let v1 = scene_position(i.y);
    let v2 = scene_position(i.z);
    let uv0 = vec4f(scene_uv(i.x, 0u), scene_uv(i.x, 1u));
    let uv1 = vec4f(scene_uv(i.y, 0u), scene_uv(i.y, 1u));
    let uv2 = vec4f(scene_uv(i.z, 0u), scene_uv(i.z, 1u));
    let tangent0 = scene_tangent(i.x);
    let tangent = w.x * tangent0 + w.y * scene_tangent(i.y) + w.z * scene_tangent(i.z);
    let fragment = Fragment(
        vec4f(0.0),
        w.x * v0 + w.y * v1 + w.z * v2,
        w.x * scene_normal(i.x) + w.y * scene_normal(i.y) + w.z * scene_normal(i.z),
        tangent,
        w.x * uv0 + w.y * uv1 + w.z * uv2,
        w.x * scene_color(i.x) + w.y * scene_color(i.y) + w.z * scene_color(i.z),
        triangle,
    );
    let across = cross(v1 - v0, v2 - v0);
    let a = uv1 - uv0;
    let b = uv2 - uv0;
    let area = max(length(across), 1.0e-30);
    let uv_areas = abs(a.xz * b.yw - a.yw * b.xz);
    // At grazing angles, the ray's footprint is longer along the ray than across it. Anisotropic filtering would stay
    // sharp across it, so the mean of the two lengths is used.
    let cosine = max(abs(dot(across, direction)) / area, 0.01);
    let covered = log2(max(width, 1.0e-30)) - 0.5 * log2(cosine);
    let levels = 0.5 * log2(max(uv_areas / area, vec2f(1.0e-30))) + covered;
    return HitFragment(fragment, (surface_id & GBUFFER_BACK) == 0u, levels);
}
