// Start of rays on a surface, and the test for needed shadow rays.
#import "frame/frame.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "light/light.wgsl"
#import "frame/scene.wgsl"

struct ShadowStart {
    // Point on the surface.
    position: vec3f,
    // Origin of rays, a small step away from the surface.
    origin: vec3f,
    // Normal of the triangle, towards the eye or towards the origin of the ray that hit it.
    geometric_normal: vec3f,
    // Normal interpolated between the vertices, without normal textures, on the same side.
    smooth_normal: vec3f,
    // Normal of the horizon above which rays start. This is the smooth normal where the smooth surface lies above the
    // triangle, else the geometric one.
    horizon_normal: vec3f,
    // Offset from the origin to the smooth surface; zero where the smooth surface does not lie above the triangle.
    lift: vec3f,
    // Rays whose cosine with the geometric normal is less than this start at the smooth surface; −2 for no rays.
    grazing: f32,
    // True if the back of the triangle is visible.
    is_back: bool,
}

// Returns the start of rays from a point of the triangle with this id. Interpolation has rounded the point, so it is
// first projected onto the triangle's plane. A pixel's centre may lie outside the triangle by a five-hundredth of a
// pixel, because GPUs round vertices before they rasterise. Such a point is moved to the triangle's edge and four steps
// inside, so that no ray starts behind another wall that meets this triangle at its edge. The step then follows the
// plane's normal, just far enough that rounding cannot bring a ray back through the surface. All rounding on the way is
// proportional to the coordinates of the point and of the triangle's corners. The step is 8 ulp of the largest of them.
//
// The smooth surface is the surface that the vertex normals describe (Hanika 2021, "Hacking the Shadow Terminator", Ray
// Tracing Gems II, chapter 4). It is the mean of the point and its projections onto the vertices' tangent planes,
// weighted like the normals. Only projections above the point count. The smooth surface lies outside a convex surface,
// so its tangents do not hit the triangles again. For a saddle, the section along the tilt of the normal decides.
// Concave surfaces have no smooth surface. A lift of less than a step is rounding, since the surface is flat where the
// vertex normals equal the triangle's. Turning `materials.smooth_terminator` off disables the smooth surface.
fn shadow_ray_start(id: u32, position: vec3f) -> ShadowStart {
    let triangle = gbuffer_triangle(id);
    let i = vec3u(indices(3u * triangle), indices(3u * triangle + 1u), indices(3u * triangle + 2u));
    let v0 = scene_position(i.x);
    let v1 = scene_position(i.y);
    let v2 = scene_position(i.z);
    let to_eye = frame_to_eye(position);
    let cross_product = cross(v1 - v0, v2 - v0);
    let largest = max(abs(cross_product.x), max(abs(cross_product.y), abs(cross_product.z)));
    var normal = to_eye;
    var in_plane = position;
    var side = 1.0;
    if largest > 0.0 {
        normal = normalize(cross_product / largest);
        in_plane = position - dot(position - v0, normal) * normal;
        let is_hit = (id & GBUFFER_HIT) != 0u;
        let is_front = select(dot(normal, to_eye) >= 0.0, (id & GBUFFER_BACK) == 0u, is_hit);
        side = select(-1.0, 1.0, is_front);
        normal *= side;
    }
    let size = max(abs(position), max(abs(v0), max(abs(v1), abs(v2))));
    let step = max(size.x, max(size.y, size.z)) * 9.5367432e-7;

    let normals = side * mat3x3f(scene_normal(i.x), scene_normal(i.y), scene_normal(i.z));
    let a = v0 - in_plane;
    let b = v1 - in_plane;
    let c = v2 - in_plane;
    let signed_areas = side * vec3f(dot(cross(b, c), normal), dot(cross(c, a), normal), dot(cross(a, b), normal));
    let areas = max(signed_areas, vec3f(0.0));
    let area = areas.x + areas.y + areas.z;
    let weights = select(vec3f(1.0 / 3.0), areas / area, area > 0.0);
    let to_edge = mat3x3f(a, b, c) * weights;
    let longest = sqrt(max(dot(b - a, b - a), max(dot(c - b, c - b), dot(a - c, a - c))));
    // The centroid is a third of a height or more away from each edge.
    let share = min(12.0 * step * longest / max(largest, 1.0e-30), 1.0);
    let inside = to_edge + share * ((a + b + c) / 3.0 - to_edge);
    let is_outside = min(signed_areas.x, min(signed_areas.y, signed_areas.z)) < 0.0;
    let start = in_plane + select(vec3f(0.0), inside, is_outside);
    let mean = normals * weights;
    let smooth_normal = select(to_eye, normalize(mean), dot(mean, mean) > 1.0e-20);
    let tilt = smooth_normal - dot(smooth_normal, normal) * normal;
    let along = tilt / max(length(tilt), 1.0e-20);
    let planes = vec3f(dot(a, normals[0]), dot(b, normals[1]), dot(c, normals[2]));
    let leans = along * normals;
    let offsets = vec3f(dot(a, along), dot(b, along), dot(c, along));
    let spread = offsets - (offsets.x + offsets.y + offsets.z) / 3.0;
    // The tolerance exceeds rounding. Vertex normals that all agree describe a flat surface, however they lean.
    let convex = dot(leans, spread) > 1.0e-3 * dot(abs(leans), abs(spread));
    let heights = weights * max(max(planes, leans * offsets), vec3f(0.0));
    let cosines = normal * normals;
    // Normals that lean below the triangle are ignored.
    let lift = normals * select(vec3f(0.0), heights, cosines > vec3f(0.0));
    let is_off = (frame.materials_without & MATERIALS_SMOOTH_TERMINATOR) != 0u;
    let lifted = dot(lift, normal) > step && dot(mean, normal) > 0.0 && convex && !is_off;
    let least = min(cosines.x, min(cosines.y, cosines.z));
    let bend = sqrt(max(1.0 - least * least, 0.0));
    return ShadowStart(
        start,
        start + step * normal,
        normal,
        smooth_normal,
        select(normal, smooth_normal, lifted),
        select(vec3f(0.0), lift, lifted),
        select(-2.0, min(bend, GRAZING_MAX), lifted),
        side < 0.0,
    );
}

// True if a shadow ray is needed: the light illuminates the surface, lies above its horizon, and is on the front of the
// shading normal.
fn shadow_ray_needed(start: ShadowStart, normal: vec3f, sample: LightSample) -> bool {
    return light_reaches(sample)
        && dot(normal, sample.to_light) > 0.0
        && dot(start.horizon_normal, sample.to_light) > 0.0;
}

// Returns the number of rays to a light. Shadow edges with a short history cast more (shadow/shadow_edges.wgsl).
fn light_rays(light: Light) -> u32 {
    return select(frame.light_rays, 1u, light.radius == 0.0);
}
