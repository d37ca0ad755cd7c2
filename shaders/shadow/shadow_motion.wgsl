// shadow_motion: reprojects the shadows of two lights to the last frame, where anything moves.
//
// in   G-buffer (position, ids), `motion`, the merged scene (group 2), last_positions with its vertices in the last
//      frame, bits of the meshes that have moved; blocked_texture: the triangles that this frame's rays hit; the
//      surfaces of the last frame; reprojection taps of the pixel's surface; tiles where something has changed
// out  first_out, second_out: reprojection taps of the pixel's shadow, for each light that is filtered, and a flag that
//      is set if the shadow may have changed
// The method follows Zeng et al. 2021, "Temporally Reliable Motion Vectors for Real-time Ray Tracing", section 4. A
// point of the blocking triangle casts its shadow where the line from the light through it meets the plane of the
// surface. In the last frame, the shadow was where this point cast it.
// If a pixel's ray hit nothing, the nearest moved triangle that its neighbours' rays hit is taken. Which triangle of an
// object is hit makes little difference to the motion.
// One thread per pixel.
#import "frame/apron.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "light/light.wgsl"
#import "frame/motion.wgsl"
#import "frame/scene.wgsl"
#import "shadow/shadow_edges_word.wgsl"
#import "denoise/signal_find.wgsl"

// Number of lights whose shadows are followed. It is 1 if the second light of the pair has no size or does not exist,
// and then nothing of that light is read or stored. These are separate kernels because a branch on a uniform costs
// registers even where it is not taken.
override SHADOW_LIGHTS: u32 = 2u;

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> motion: MotionParams;
// Slot of the first of the two lights.
@group(1) @binding(2) var<uniform> first_light: u32;
#texels 1 3 position_texture: rgba32float
#texels 1 4 ids_texture: r32uint
#texels 1 5 displacement_texture: rgba32float
#array read 1 6 last_positions: u32
#texels 1 7 blocked_texture: r32uint array
#texels 1 8 surfaces: rgba32uint
#texels 1 9 last_surfaces: rgba32uint
#texels 1 10 reprojected_texture: rg32uint
@group(1) @binding(11) var first_out: texture_storage_2d<rg32uint, write>;
@group(1) @binding(12) var second_out: texture_storage_2d<rg32uint, write>;
#texels 1 13 tiles_texture: rg32uint
@group(1) @binding(14) var<storage, read> triangle_info: array<vec2u>;
// One bit per mesh, set if the mesh has moved.
@group(1) @binding(15) var<storage, read> moved_meshes: array<u32>;

// Smallest cosine between the light's direction and the surface normal. Below it, a small motion of the blocker becomes
// a large motion of its shadow, so shadows are not reprojected.
const GRAZING = 0.02;
// Flag in a triangle number: the triangle has moved.
const MOVED = 0x80000000u;

// Blockers of the two lights in and around the tile: triangle number plus 1, or 0.
var<workgroup> blockers: array<vec2u, 144>;
// Bit masks per row and light: from bit 0 on, the pixels whose blocker has moved; from bit APRON_TILE on, the pixels
// that have a blocker.
var<workgroup> blocked_rows: array<atomic<u32>, 24>;
// Nonzero if any of these blockers, or a surface of the tile, has moved.
var<workgroup> any_moves: atomic<u32>;

fn last_vertex(vertex: u32) -> vec3f {
    let first = 3u * vertex;
    return bitcast<vec3f>(vec3u(last_positions(first), last_positions(first + 1u), last_positions(first + 2u)));
}

fn corners_of(triangle: u32) -> vec3u {
    return vec3u(indices(3u * triangle), indices(3u * triangle + 1u), indices(3u * triangle + 2u));
}

// Returns the blocker of light `k` at a pixel, with MOVED if it has moved.
fn blocker_at(pixel: vec2u, k: u32) -> u32 {
    let slots = (frame.light_slots + 1u) & ~1u;
    let light = first_light + k;
    // If nothing is blocked or no ray was cast, the stored triangle is from an older frame.
    let blocked = textureLoad(blocked_texture, pixel, light, 0).r;
    var found = 0u;
    if (blocked & SIGNAL_SHARE) != 0u && blocked < SIGNAL_UNSENT {
        let blocker = textureLoad(blocked_texture, pixel, slots + light, 0).r;
        let mesh = triangle_info[blocker - 1u].x & ~ANY_HIT_TEST;
        var moved = 0u;
        // Most triangles that move also move their first corner.
        let mesh_moved = ((moved_meshes[mesh / 32u] >> (mesh % 32u)) & 1u) != 0u;
        for (var corner = select(3u, 0u, mesh_moved); corner < 3u && moved == 0u; corner++) {
            let i = indices(3u * (blocker - 1u) + corner);
            moved = select(0u, MOVED, any(last_vertex(i) != scene_position(i)));
        }
        found = blocker | moved;
    }
    return found;
}

// Projects `point` from the light's centre onto the plane through `position`. Returns `position` at grazing angles.
fn shadow_on_plane(light: Light, point: vec3f, position: vec3f, normal: vec3f) -> vec3f {
    let is_distant = light.kind == LIGHT_DIRECTIONAL;
    let along = select(point - light.position, light.direction, is_distant);
    let approach = dot(along, normal);
    let path = dot(position - point, normal) / approach;
    let shadow = point + path * along;
    return select(position, shadow, abs(approach) > GRAZING * length(along));
}

// A point that casts a shadow, now and in the last frame.
struct Caster {
    point: vec3f,
    last_point: vec3f,
}

// Returns the point of a triangle on the line to the light's centre, clamped to the triangle because the centre may be
// visible past it.
fn caster_on_line(light: Light, position: vec3f, triangle: u32) -> Caster {
    let i = corners_of(triangle);
    let corners = mat3x3f(scene_position(i.x), scene_position(i.y), scene_position(i.z));
    let is_distant = light.kind == LIGHT_DIRECTIONAL;
    let along = select(light.position - position, -light.direction, is_distant);
    let a = corners[0] - position;
    let b = corners[1] - position;
    let c = corners[2] - position;
    let areas = vec3f(dot(cross(b, c), along), dot(cross(c, a), along), dot(cross(a, b), along));
    let area = areas.x + areas.y + areas.z;
    let inside = clamp(areas / area, vec3f(0.0), vec3f(1.0));
    let sum = inside.x + inside.y + inside.z;
    let weights = select(vec3f(1.0 / 3.0), inside / sum, area != 0.0 && sum > 0.0);
    let last_corners = mat3x3f(last_vertex(i.x), last_vertex(i.y), last_vertex(i.z));
    return Caster(corners * weights, last_corners * weights);
}

struct NearBlocker {
    // Triangle index plus 1, with MOVED; 0 if there is no blocker.
    triangle: u32,
    // True if any blocker in 5 × 5 pixels has moved.
    any_moved: bool,
}

// Masks over 5 × 5 pixels, row by row from bit 0 on. Each selects the pixels whose centres are 1, √2, 2, √5 or √8
// pixels from the central one.
const RINGS = array(0x22880u, 0x50140u, 0x404404u, 0xa8822au, 0x1100011u);
const MIDDLE = 0x1000u;

// Returns the index of the set pixel nearest to the centre. Among equally near pixels, it is the first in row order. At
// least one must be set.
fn nearest_of(pixels: u32) -> u32 {
    var found = pixels & MIDDLE;
    for (var i = 0u; i < 5u; i++) {
        found = select(found, pixels & RINGS[i], found == 0u);
    }
    return firstTrailingBit(found);
}

// Returns the blocker of light `k` at a pixel: the hit of the pixel's own ray, or else the nearest hit of its
// neighbours' rays. The neighbours count only if their blockers have moved, unless `all_count` is set. `corner` is the
// first of the 5 × 5 pixels.
fn blocker_near(corner: vec2u, k: u32, all_count: bool) -> NearBlocker {
    var moved = 0u;
    var blocked = 0u;
    for (var y = 0u; y < 5u; y++) {
        let row = atomicLoad(&blocked_rows[APRON_TILE * k + corner.y + y]) >> corner.x;
        moved |= (row & 31u) << (5u * y);
        blocked |= ((row >> APRON_TILE) & 31u) << (5u * y);
    }
    let own = blocked & MIDDLE;
    let found = select(own, select(moved, blocked, all_count), own == 0u);
    var triangle = 0u;
    if found != 0u {
        let nearest = nearest_of(found);
        triangle = blockers[(corner.y + nearest / 5u) * APRON_TILE + corner.x + nearest % 5u][k];
    }
    return NearBlocker(triangle, moved != 0u);
}

// Returns the reprojection taps of light `k` for the shadow of `triangle`, which is encoded as in NearBlocker, or for a
// lit surface if it is 0. Returns `unchanged` if reprojection fails.
fn followed_reprojection(
    pixel: vec2u,
    k: u32,
    triangle: u32,
    moves: bool,
    surface: SignalSurface,
    unchanged: vec2u,
) -> vec2u {
    let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz;
    let last_position = position - motion_displacement(motion, textureLoad(displacement_texture, pixel, 0));
    let light = first_lights[first_light + k];
    // Without a blocker, the lighting is taken to stand still.
    var caster = Caster(position, position);
    if triangle != 0u {
        caster = caster_on_line(light, position, (triangle & ~MOVED) - 1u);
    }
    let i = corners_of(textureLoad(ids_texture, pixel, 0).r - 1u);
    let last_corner = last_vertex(i.x);
    let across = cross(last_vertex(i.y) - last_corner, last_vertex(i.z) - last_corner);
    let facing = across * select(-1.0, 1.0, dot(across, surface.normal) >= 0.0);
    let last_normal = select(surface.normal, normalize(facing), surface.moved && dot(across, across) > 0.0);
    let off = shadow_on_plane(light, caster.point, position, surface.normal) - position;
    let last = shadow_on_plane(light, caster.last_point, last_position, last_normal) - off;
    let at_last = vec2f(pixel) - motion_of_point(motion, position, last) + motion.jitter;
    let found = signal_find(at_last, last, last_normal, surface.mesh, signal_tolerance(position),
        motion_had_in_front(motion, last));
    let reprojected = reprojected_pack(found.corner, found.part, found.same, moves);
    return select(unchanged, reprojected, found.weight > 0.01);
}

// Returns the reprojection taps of light `k`. `own` are the taps of the surface.
fn shadow_reprojection(pixel: vec2u, corner: vec2u, k: u32, own: vec2u, surface: SignalSurface) -> vec2u {
    let moved = surface.moved;
    // Static blockers cast moving shadows on a surface that moves.
    let near = blocker_near(corner, k, moved);
    let moves = moved || near.any_moved;
    var reprojected = vec2u(own.x | select(0u, REPROJECTED_MOVE, moves), own.y);
    if surface.frames > 0u && (moved || near.triangle >= MOVED) {
        reprojected = followed_reprojection(pixel, k, near.triangle, moves, surface, reprojected);
    }
    return reprojected;
}

// True if anything has moved between one of the filtered lights and this tile or its neighbours.
fn light_changes(tile: vec2u) -> bool {
    var changes = 0u;
    for (var i = 0u; i < 9u; i++) {
        let other = vec2i(tile) + vec2i(vec2u(i % 3u, i / 3u)) - 1;
        let inside = clamp(other, vec2i(0), vec2i(textureDimensions(tiles_texture)) - 1);
        changes |= textureLoad(tiles_texture, inside, 0).x;
    }
    let filtered = (1u << SHADOW_LIGHTS) - 1u;
    return ((changes >> first_light) & filtered) != 0u | (first_light >= 30u);
}

@compute @workgroup_size(8, 8)
fn shadow_motion(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(local_invocation_id) thread: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    let first = 8u * workgroup.xy + vec2u(0u, row_offset);
    let pixel = first + thread.xy;
    let inside = min(pixel, frame.size - 1u);
    let surface = signal_surface_unpack(textureLoad(surfaces, inside, 0));
    if index == 0u {
        atomicStore(&any_moves, 0u);
    }
    if index < 2u * APRON_TILE {
        atomicStore(&blocked_rows[index], 0u);
    }
    workgroupBarrier();
    if light_changes(first / 8u) {
        var moves = surface.moved;
        for (var i = index; i < APRON_TILE * APRON_TILE; i += 64u) {
            let texel = apron_pixel(first, i, frame.size);
            var found = vec2u(blocker_at(texel, 0u), 0u);
            if SHADOW_LIGHTS == 2u {
                found.y = blocker_at(texel, 1u);
            }
            moves = moves || any(found >= vec2u(MOVED));
            blockers[i] = found;
            let bits = select(vec2u(0u), vec2u(1u << APRON_TILE), found != vec2u(0u))
                | select(vec2u(0u), vec2u(1u), found >= vec2u(MOVED));
            if bits.x != 0u {
                atomicOr(&blocked_rows[i / APRON_TILE], bits.x << (i % APRON_TILE));
            }
            if bits.y != 0u {
                atomicOr(&blocked_rows[APRON_TILE + i / APRON_TILE], bits.y << (i % APRON_TILE));
            }
        }
        if moves {
            atomicStore(&any_moves, 1u);
        }
    }
    workgroupBarrier();
    let own = textureLoad(reprojected_texture, inside, 0).xy;
    var reprojected = array(own, own);
    if atomicLoad(&any_moves) != 0u {
        reprojected[0] = shadow_reprojection(inside, thread.xy, 0u, own, surface);
        if SHADOW_LIGHTS == 2u {
            reprojected[1] = shadow_reprojection(inside, thread.xy, 1u, own, surface);
        }
    }
    if all(pixel < frame.size) {
        textureStore(first_out, pixel, vec4u(reprojected[0], 0u, 0u));
        if SHADOW_LIGHTS == 2u {
            textureStore(second_out, pixel, vec4u(reprojected[1], 0u, 0u));
        }
    }
}
