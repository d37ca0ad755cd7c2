// Starts of rays that must not leave a room.
#import "shadow/shadow_start.wgsl"

// Returns the offset towards the triangle's centroid that moves a point on an edge inside by four times the step of ray
// origins. Rounding may have put the point outside the triangle. Where two walls meet, that is outside the room.
fn inwards(triangle: u32, start: ShadowStart) -> vec3f {
    let v0 = scene_position(indices(3u * triangle));
    let v1 = scene_position(indices(3u * triangle + 1u));
    let v2 = scene_position(indices(3u * triangle + 2u));
    let longest = max(length(v1 - v0), max(length(v2 - v1), length(v0 - v2)));
    let height = length(cross(v1 - v0, v2 - v0) / max(longest, 1.0e-30));
    let share = min(12.0 * distance(start.origin, start.position) / max(height, 1.0e-30), 1.0);
    return share * ((v0 + v1 + v2) / 3.0 - start.position);
}
