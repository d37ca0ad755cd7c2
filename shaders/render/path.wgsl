// path: a path of light a pixel, from the eye on (Kajiya 1986, "The Rendering Equation"; Veach 1997, chapters
// 9 and 10).
//
// in   the merged scene (group 2), the trees (group 1), lights and the environment's cube (group 0), the
//      table of common/path_table.wgsl
// out  sample_out: radiance of one path; alpha 1 where it meets a surface
// One thread per pixel of a band. At each surface the path asks for direct light: of one of the lights, which
// are chosen by what they would give without shadows; of one point of a triangle that glows; of one direction
// of the environment. Then it goes on along a direction that is chosen by the lobes of the material, and what
// it meets there of the last two is weighed with what asking for it has found (balance heuristic). After
// three surfaces paths end by chance (Russian roulette). Surfaces are those of the fast frame: the same
// functions, of texels at the finest level.
//
// All rays of a surface are traced in turn by one loop: software adapters inline the traversal at each place.
#import "common/alpha.wgsl"
#import "common/background.wgsl"
#import "common/basis.wgsl"
#import "common/bvh.wgsl"
#import "common/cube_map.wgsl"
#import "common/display.wgsl"
#import "common/ggx_sample.wgsl"
#import "common/hit_fragment.wgsl"
#import "common/layered_surface.wgsl"
#import "common/light.wgsl"
#import "common/light_area.wgsl"
#import "common/path_table.wgsl"
#import "common/sampling.wgsl"
#import "common/shadow_start.wgsl"
#import "common/unseen.wgsl"

@group(3) @binding(0) var<uniform> first_row: u32;
@group(3) @binding(1) var<uniform> params: PathParams;
@group(3) @binding(2) var<storage, read> table: array<u32>;
@group(3) @binding(3) var sample_out: texture_storage_2d<rgba32float, write>;

// Of the material that a path has met.
var<private> material: Material;
var<private> layered: MaterialLayers;
var<private> texels: array<vec4f, PATH_TEXTURES>;
var<private> texture_bits: u32;

// What any-hit tests know of the ray: a number of its own, and whether clear surfaces let it pass.
var<private> ray_seed: u32;
var<private> passes_clear: bool;

// Rays of one surface, in the order in which they are traced.
const RAY_LIFT = 0u;
const RAY_LIGHT = 1u;
const RAY_ENVIRONMENT = 2u;
const RAY_EMITTER = 3u;
const RAY_ON = 4u;
// Backs of single-sided surfaces that a ray from the eye passes.
const MOST_BACKS = 16u;
// Surfaces after which paths end by chance.
const SURE_BOUNCES = 3u;
const NO_LAYERS = 0xffffffffu;

// PCG (Jarzynski and Olano 2020, "Hash Functions for GPU Rendering").
fn path_hash(x: u32) -> u32 {
    let state = x * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

// Blended surfaces are there for the share of rays that their alpha says, each surface for others.
fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    let header = ALPHA_HEADER * triangle.payload;
    if alpha[header + ALPHA_MODE] == ALPHA_CLEAR && passes_clear {
        return false;
    }
    let value = alpha_value(header, triangle.triangle, barycentric);
    let blends = alpha[header + ALPHA_BLENDED] != 0u;
    let least = f32(path_hash(ray_seed ^ path_hash(triangle.triangle)) >> 8u) / 16777216.0;
    return select(value >= bitcast<f32>(alpha[header + ALPHA_CUTOFF]), value > least, blends);
}

fn table_float(word: u32) -> f32 {
    return bitcast<f32>(table[word]);
}

fn table_vec3(word: u32) -> vec3f {
    return vec3f(table_float(word), table_float(word + 1u), table_float(word + 2u));
}

fn sheen_table_at(row: u32, column: u32) -> f32 {
    return table_float(params.sheen_word + row * SHEEN_TABLE + column);
}

fn base_color_texel(uv: vec4f) -> vec4f {
    return texels[0];
}

fn metallic_roughness_texel(uv: vec4f) -> vec4f {
    return texels[1];
}

fn normal_texel(uv: vec4f) -> vec4f {
    return texels[2];
}

fn occlusion_texel(uv: vec4f) -> vec4f {
    return texels[3];
}

fn emissive_texel(uv: vec4f) -> vec4f {
    return texels[4];
}

fn layer_slot(layer: u32) -> u32 {
    return (texture_bits >> (MATERIAL_TEXTURES + layer)) & 1u;
}

fn layer_sample(layer: u32, uv: vec4f) -> vec4f {
    return texels[MATERIAL_TEXTURES + layer];
}

struct PathTexture {
    first: u32,
    size: vec2i,
    flags: u32,
}

fn path_texel(t: PathTexture, at: vec2i) -> vec4f {
    let x = alpha_wrap(at.x, t.size.x, t.flags & 3u);
    let y = alpha_wrap(at.y, t.size.y, (t.flags >> 2u) & 3u);
    let stored = unpack4x8unorm(table[t.first + u32(y * t.size.x + x)]);
    return select(stored, vec4f(srgb_decode(stored.rgb), stored.a), (t.flags & PATH_TEXEL_SRGB) != 0u);
}

// A texture of a material at the finest level. `rows` is the word of the transform of its UV coordinates.
fn path_sample(record: u32, rows: u32, uv: vec4f) -> vec4f {
    let t = PathTexture(
        table[record],
        vec2i(vec2u(table[record + 1u], table[record + 2u])),
        table[record + 3u],
    );
    let raw = vec3f(select(uv.xy, uv.zw, (t.flags & PATH_TEXEL_SECOND) != 0u), 1.0);
    let at = vec2f(dot(table_vec3(rows), raw), dot(table_vec3(rows + 4u), raw));
    // Clamped as in common/alpha.wgsl.
    let texel = clamp(at * vec2f(t.size), vec2f(-1.0e9), vec2f(1.0e9));
    let is_linear = (t.flags & PATH_TEXEL_LINEAR) != 0u;
    let corner = floor(select(texel, texel - 0.5, is_linear));
    let weight = select(vec2f(0.0), texel - 0.5 - corner, is_linear);
    let c = vec2i(corner);
    var sum = vec4f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let step = vec2u(i & 1u, i >> 1u);
        let shares = select(1.0 - weight, weight, step == vec2u(1u));
        let share = shares.x * shares.y;
        if share > 0.0 {
            sum += share * path_texel(t, c + vec2i(step));
        }
    }
    return sum;
}

fn path_rows(index: u32, slot: u32) -> u32 {
    let base = params.material_word + params.material_stride * index + PATH_MATERIAL_ROWS + 8u * slot;
    let layers = table[params.header_word + PATH_HEADER * index];
    let of_layer = params.layer_word + params.layer_stride * layers + PATH_LAYER_ROWS
        + 8u * (slot - MATERIAL_TEXTURES);
    return select(of_layer, base, slot < MATERIAL_TEXTURES);
}

// Takes over a material, and its texels at a point.
fn path_load(index: u32, uv: vec4f) {
    let at = params.material_word + params.material_stride * index;
    material.base_color = vec4f(table_vec3(at), table_float(at + 3u));
    material.emissive = table_vec3(at + 4u);
    material.normal_scale = table_float(at + 7u);
    material.metallic = table_float(at + 8u);
    material.roughness = table_float(at + 9u);
    material.occlusion_strength = table_float(at + 10u);
    material.alpha_cutoff = table_float(at + 11u);
    material.uv_sets = table[at + 12u];
    material.flags = table[at + 13u];
    let header = params.header_word + PATH_HEADER * index;
    let own = table[header];
    layered.specular_color = vec3f(1.0);
    layered.specular = 1.0;
    layered.sheen_color = vec3f(0.0);
    layered.sheen_roughness = 0.0;
    layered.absorption = vec3f(0.0);
    layered.thickness = 0.0;
    layered.reflectance = 0.04;
    layered.clearcoat = 0.0;
    layered.clearcoat_roughness = 0.0;
    layered.clearcoat_normal_scale = 1.0;
    layered.anisotropy_direction = vec2f(1.0, 0.0);
    layered.anisotropy = 0.0;
    layered.transmission = 0.0;
    layered.iridescence = 0.0;
    layered.iridescence_ior = 1.3;
    layered.iridescence_thickness = vec2f(0.0);
    layered.volume_ior = 0.0;
    if own != NO_LAYERS {
        let own_layers = params.layer_word + params.layer_stride * own;
        layered.specular_color = table_vec3(own_layers);
        layered.specular = table_float(own_layers + 3u);
        layered.sheen_color = table_vec3(own_layers + 4u);
        layered.sheen_roughness = table_float(own_layers + 7u);
        layered.absorption = table_vec3(own_layers + 8u);
        layered.thickness = table_float(own_layers + 11u);
        layered.reflectance = table_float(own_layers + 12u);
        layered.clearcoat = table_float(own_layers + 13u);
        layered.clearcoat_roughness = table_float(own_layers + 14u);
        layered.clearcoat_normal_scale = table_float(own_layers + 15u);
        layered.anisotropy_direction = vec2f(table_float(own_layers + 16u), table_float(own_layers + 17u));
        layered.anisotropy = table_float(own_layers + 18u);
        layered.transmission = table_float(own_layers + 19u);
        layered.iridescence = table_float(own_layers + 20u);
        layered.iridescence_ior = table_float(own_layers + 21u);
        layered.iridescence_thickness = vec2f(table_float(own_layers + 22u), table_float(own_layers + 23u));
        layered.volume_ior = table_float(own_layers + 24u);
    }
    texture_bits = table[header + 1u];
    for (var slot = 0u; slot < PATH_TEXTURES; slot++) {
        texels[slot] = vec4f(1.0);
    }
    var left = texture_bits;
    while left != 0u {
        let slot = firstTrailingBit(left);
        left &= left - 1u;
        texels[slot] = path_sample(header + 4u + 4u * slot, path_rows(index, slot), uv);
    }
}

// What a point of a triangle of a material glows with. Emission that a coat lies over is found by paths
// alone.
fn path_emission(index: u32, uv: vec4f) -> vec3f {
    let at = params.material_word + params.material_stride * index;
    let header = params.header_word + PATH_HEADER * index;
    let has_texture = (table[header + 1u] & 16u) != 0u && !material_is_without(MATERIALS_EMISSIVE_TEXTURE);
    var texel = vec3f(1.0);
    if has_texture {
        texel = path_sample(header + 20u, path_rows(index, 4u), uv).rgb;
    }
    return select(table_vec3(at + 4u) * texel, vec3f(0.0), material_is_without(MATERIALS_EMISSION));
}

struct Chosen {
    index: u32,
    // The chance of that choice.
    chance: f32,
    // A number from 0 to 1 that the choice leaves.
    left: f32,
}

// The share of all in front of entry `index`.
fn path_before(word: u32, index: u32) -> f32 {
    if index == 0u {
        return 0.0;
    }
    return table_float(word + index - 1u);
}

// The first entry whose sum is above `u`.
fn path_choose(word: u32, count: u32, u: f32) -> Chosen {
    var low = 0u;
    var high = count - 1u;
    while low < high {
        let middle = (low + high) / 2u;
        if u < table_float(word + middle) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    let before = path_before(word, low);
    let chance = table_float(word + low) - before;
    return Chosen(low, chance, saturate((u - before) / max(chance, 1.0e-20)));
}

// The chance that a triangle is chosen of those that glow; 0 for one that is none of them.
fn path_emitter_chance(triangle: u32) -> f32 {
    var low = 0u;
    var high = params.emitter_count;
    while low < high {
        let middle = (low + high) / 2u;
        if table[params.emitter_word + middle] < triangle {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    let sums = params.emitter_word + params.emitter_count;
    if low >= params.emitter_count {
        return 0.0;
    }
    let chance = table_float(sums + low) - path_before(sums, low);
    return select(0.0, chance, table[params.emitter_word + low] == triangle);
}

// Solid angle's density of directions of the environment, of which a texel has this chance, at a point of its
// face.
fn path_texel_density(chance: f32, coords: vec2f) -> f32 {
    let length2 = 1.0 + dot(coords, coords);
    let face = f32(params.environment_face);
    return chance * 0.25 * face * face * length2 * sqrt(length2);
}

// The density of a direction in the world.
fn path_environment_density(world: vec3f) -> f32 {
    let d = environment_direction(world);
    let a = abs(d);
    let by_x = a.x >= a.y && a.x >= a.z;
    let by_y = !by_x && a.y >= a.z;
    let along = select(select(d.z, d.y, by_y), d.x, by_x);
    let e = d / max(abs(along), 1.0e-20);
    let sign = select(-1.0, 1.0, along >= 0.0);
    let coords = select(
        select(vec2f(sign * e.x, -e.y), vec2f(e.x, sign * e.z), by_y),
        vec2f(-sign * e.z, -e.y),
        by_x,
    );
    let face = select(select(4u, 2u, by_y), 0u, by_x) + select(1u, 0u, along >= 0.0);
    let side = params.environment_face;
    let texel = min(vec2u(saturate(0.5 * coords + 0.5) * f32(side)), vec2u(side - 1u));
    let index = (face * side + texel.y) * side + texel.x;
    let chance = table_float(params.environment_word + index) - path_before(params.environment_word, index);
    return path_texel_density(chance, coords);
}

struct PathDirection {
    direction: vec3f,
    density: f32,
}

// A direction in the world, by how bright the environment is.
fn path_environment(u: vec2f) -> PathDirection {
    let side = params.environment_face;
    let chosen = path_choose(params.environment_word, 6u * side * side, u.x);
    let texel = vec2u(chosen.index % side, chosen.index / side % side);
    let coords = 2.0 * (vec2f(texel) + vec2f(chosen.left, u.y)) / f32(side) - 1.0;
    let d = normalize(cube_map_direction(chosen.index / (side * side), coords));
    let turn = frame.environment_turn;
    let world = vec3f(turn.x * d.x + turn.y * d.z, d.y, turn.x * d.z - turn.y * d.x);
    return PathDirection(world, path_texel_density(chosen.chance, coords));
}

// A surface with what a path needs to go on from it.
struct PathSurface {
    s: Surface,
    l: Layers,
    to_eye: vec3f,
    // Of the base's lobe, and of the coat's.
    basis: Basis,
    alpha: vec2f,
    coat_basis: Basis,
    coat_alpha: f32,
    // Chances of the coat, the base, the diffuse and the transmitting lobe.
    chances: vec4f,
}

fn path_in_basis(basis: Basis, normal: vec3f, v: vec3f) -> vec3f {
    return vec3f(dot(v, basis.tangent), dot(v, basis.bitangent), dot(v, normal));
}

// To the eye in a basis, above it: normal textures may turn a surface away.
fn path_local_eye(basis: Basis, normal: vec3f, to_eye: vec3f) -> vec3f {
    let v = path_in_basis(basis, normal, to_eye);
    return normalize(vec3f(v.xy, max(abs(v.z), 1.0e-4)));
}

fn path_alpha(roughness: f32) -> f32 {
    let bounded = max(roughness, ROUGHNESS_MIN);
    return bounded * bounded;
}

fn path_surface(s: Surface, l: Layers, to_eye: vec3f) -> PathSurface {
    let alpha = path_alpha(s.roughness);
    let stretches = l.anisotropy > 0.0;
    var basis = basis_about(s.normal);
    if stretches {
        // In the plane of the shading normal.
        let tangent = normalize(l.along - dot(l.along, s.normal) * s.normal);
        basis = Basis(tangent, cross(s.normal, tangent));
    }
    let stretched = select(alpha, mix(alpha, 1.0, l.anisotropy * l.anisotropy), stretches);
    let cosine = abs(dot(s.normal, to_eye));
    let fresnel = layers_fresnel(s, l, cosine);
    let coat = layers_coat(l, to_eye);
    let dielectric = saturate(layers_max(fresnel.dielectric));
    let below = (1.0 - s.metallic) * (1.0 - dielectric) * layers_max(s.albedo);
    // The chance of a lobe does not depend on where it may send the path, so that its density is the mean of
    // all.
    let weights = vec4f(
        coat,
        (1.0 - coat) * max(mix(dielectric, layers_max(fresnel.metal), s.metallic), 0.02),
        (1.0 - coat) * (below * (1.0 - l.transmission) + layers_max(l.sheen_color)),
        (1.0 - coat) * below * l.transmission,
    );
    return PathSurface(
        s,
        l,
        to_eye,
        basis,
        vec2f(stretched, alpha),
        basis_about(l.clearcoat_normal),
        path_alpha(l.clearcoat_roughness),
        weights / max(weights.x + weights.y + weights.z + weights.w, 1.0e-20),
    );
}

// The density of ggx_sample.
fn path_ggx_density(to_eye: vec3f, direction: vec3f, alpha: vec2f) -> f32 {
    if direction.z <= 0.0 {
        return 0.0;
    }
    let h = normalize(to_eye + direction);
    let stretched = vec3f(h.xy / alpha, h.z);
    let squares = dot(stretched, stretched);
    let distribution = 1.0 / (PI * alpha.x * alpha.y * squares * squares);
    let a = min(alpha.x, alpha.y);
    let a2 = a * a;
    let s = 1.0 + length(to_eye.xy);
    let s2 = s * s;
    let k = (1.0 - a2) * s2 / (s2 + a2 * to_eye.z * to_eye.z);
    let reach = length(vec3f(alpha * to_eye.xy, to_eye.z));
    return distribution / (2.0 * (k * to_eye.z + reach));
}

// The density of the directions in which a path goes on by reflection.
fn path_density(p: PathSurface, direction: vec3f) -> f32 {
    let local_eye = path_local_eye(p.basis, p.s.normal, p.to_eye);
    let local = path_in_basis(p.basis, p.s.normal, direction);
    var density = p.chances.y * path_ggx_density(local_eye, local, p.alpha) + p.chances.z * max(local.z, 0.0) / PI;
    if p.chances.x > 0.0 {
        let coat_eye = path_local_eye(p.coat_basis, p.l.clearcoat_normal, p.to_eye);
        let coat = path_in_basis(p.coat_basis, p.l.clearcoat_normal, direction);
        density += p.chances.x * path_ggx_density(coat_eye, coat, vec2f(p.coat_alpha));
    }
    return density;
}

// A direction by one of the lobes of reflection; `choice` below the sum of their chances.
fn path_reflect(p: PathSurface, u: vec2f, choice: f32) -> vec3f {
    let by_coat = choice < p.chances.x;
    let by_base = !by_coat && choice < p.chances.x + p.chances.y;
    let normal = select(p.s.normal, p.l.clearcoat_normal, by_coat);
    var basis = p.basis;
    var alpha = p.alpha;
    if by_coat {
        basis = p.coat_basis;
        alpha = vec2f(p.coat_alpha);
    }
    let at = disc_point(u);
    var local = vec3f(at, sqrt(max(1.0 - dot(at, at), 0.0)));
    if by_coat || by_base {
        local = ggx_sample(path_local_eye(basis, normal, p.to_eye), alpha, u).direction;
    }
    return normalize(local.x * basis.tangent + local.y * basis.bitangent + local.z * normal);
}

struct PathThrough {
    direction: vec3f,
    // What comes from there, of a unit of radiance, over the chance of going there.
    weight: vec3f,
    enters: bool,
}

// Where light comes from that a surface lets through. Volumes refract it, thin surfaces let it straight on,
// as wide as they would reflect it. From within a volume (`is_inside`) all goes this way, back too.
fn path_through(p: PathSurface, is_inside: bool, u: vec2f, choice: f32) -> PathThrough {
    let s = p.s;
    let l = p.l;
    let is_mirror = s.roughness < REFLECTION_MIRROR;
    let alpha = select(s.roughness * s.roughness, 0.0, is_mirror);
    let basis = basis_about(s.normal);
    let local_eye = path_local_eye(basis, s.normal, p.to_eye);
    let half_vector = select(ggx_half_vector(local_eye, vec2f(alpha), 1.0, u), vec3f(0.0, 0.0, 1.0), is_mirror);
    let v_dot_h = saturate(dot(local_eye, half_vector));
    let eta = select(1.0 / max(l.volume_ior, 1.0e-3), l.volume_ior, is_inside);
    let squared = 1.0 - eta * eta * (1.0 - v_dot_h * v_dot_h);
    let across = sqrt(max(squared, 0.0));
    let refracts = l.volume_ior > 0.0;
    let is_total = refracts && squared <= 0.0;
    // Schlick's term wants the angle outside.
    let outside = select(v_dot_h, across, is_inside);
    let fresnel = select(saturate(layers_max(layers_fresnel(s, l, outside).dielectric)), 1.0, is_total);
    let reflects = is_inside && choice < fresnel;
    let reflected = reflect(-local_eye, half_vector);
    var local = select(
        vec3f(reflected.xy, -reflected.z),
        (eta * v_dot_h - across) * half_vector - eta * local_eye,
        refracts,
    );
    local = select(local, reflected, reflects);
    let above = select(-local.z, local.z, reflects);
    let masking = select(ggx_masking(above, alpha), 1.0, is_mirror);
    let under = saturate(1.0 - layers_max(l.sheen_color) * l.sheen_albedo) * (1.0 - layers_coat(l, p.to_eye));
    let entering = s.albedo * (1.0 - fresnel) * (1.0 - s.metallic) * l.transmission * under
        / max(p.chances.w, 1.0e-20);
    let leaving = select(s.albedo * l.transmission, vec3f(1.0), reflects);
    let weight = select(entering, leaving, is_inside) * select(0.0, masking, above > 0.0);
    return PathThrough(
        normalize(local.x * basis.tangent + local.y * basis.bitangent + local.z * s.normal),
        select(weight, vec3f(0.0), is_total && !is_inside),
        !reflects,
    );
}

// Two numbers of the path's own, of a dimension of a surface. Conditions are made of them, and see no uniform.
fn path_point(pixel: vec2u, bounce: u32, which: u32) -> vec2f {
    let index = unseen_zero(f32(pixel.x)) + params.index;
    return sampling_point(pixel, index, SAMPLE_PATHS + PATH_DIMENSIONS * bounce + which);
}

// The ray through a point of a pixel.
fn path_view_ray(pixel: vec2u) -> Ray {
    let u = path_point(pixel, 0u, PATH_EYE);
    let ndc = (vec2f(pixel) + u) / vec2f(frame.size) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
    let along = normalize(frame.view_middle + ndc.x * frame.view_right + ndc.y * frame.view_up);
    // In a parallel projection, rays start beside each other instead.
    let m = frame.clip_from_offset;
    let right = vec3f(m[0].x, m[1].x, m[2].x);
    let up = vec3f(m[0].y, m[1].y, m[2].y);
    let beside = ndc.x * right / max(dot(right, right), 1.0e-30) + ndc.y * up / max(dot(up, up), 1.0e-30);
    let is_parallel = frame.orthographic != 0u;
    let direction = select(along, frame.forward, is_parallel);
    let start = params.near / max(dot(direction, frame.forward), 1.0e-6) * direction;
    return Ray(frame.eye + select(vec3f(0.0), beside, is_parallel) + start, 0.0, direction, 1.0e30);
}

// What a path adds, but for the first surface clamped where the settings say so.
fn path_added(light: vec3f, bounce: u32) -> vec3f {
    let most = select(1.0e30, params.clamp, params.clamp > 0.0 && bounce > 0u);
    return light * min(1.0, most / max(layers_max(light), 1.0e-20));
}

// Direct light that the path has asked for: a ray, and what it adds if nothing is in its way.
struct Asked {
    direction: vec3f,
    distance: f32,
    light: vec3f,
}

// One of the lights, and a point of it.
fn path_ask_light(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    var choice = path_point(pixel, bounce, PATH_LIGHT).x;
    var total = 0.0;
    var chosen = 0u;
    var chosen_weight = 0.0;
    let lights_there = unseen_zero(f32(pixel.x)) + frame.light_count;
    for (var i = 0u; i < lights_there; i++) {
        let sample = light_sample(lights[i], p.s.position);
        let is_far = lights[i].kind == LIGHT_DIRECTIONAL;
        let sine = min(lights[i].radius / select(sample.distance, 1.0, is_far), 1.0);
        let facing = max(dot(p.s.normal, sample.to_light), dot(p.l.clearcoat_normal, sample.to_light));
        let weight = select(0.0, layers_max(sample.irradiance), facing + sine > 0.0);
        total += weight;
        if weight > 0.0 && choice * total < weight {
            chosen = i;
            chosen_weight = weight;
            choice = choice * total / weight;
        } else {
            choice = saturate((choice * total - weight) / max(total - weight, 1.0e-30));
        }
    }
    var asked: Asked;
    if chosen_weight == 0.0 {
        return asked;
    }
    let light = lights[chosen];
    let sample = light_sample(light, p.s.position);
    var ray = LightRay(sample.to_light, sample.distance);
    var spread = 1.0;
    if light.radius > 0.0 {
        ray = light_area_ray(light, sample, path_point(pixel, bounce, PATH_LIGHT_POINT));
        let sine = min(light.radius / select(sample.distance, 1.0, light.kind == LIGHT_DIRECTIONAL), 1.0);
        // A light of even radiance: its solid angle, over that seen along its middle.
        spread = 2.0 / (1.0 + sqrt(1.0 - sine * sine));
    }
    asked.direction = ray.direction;
    asked.distance = ray.distance;
    if dot(start.horizon_normal, ray.direction) > 0.0 {
        asked.light = layers_evaluate(p.s, p.l, p.to_eye, ray.direction) * sample.irradiance
            * (spread * total / chosen_weight);
    }
    return asked;
}

fn path_ask_environment(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    let side = params.environment_face;
    var asked: Asked;
    // Black all around.
    if table_float(params.environment_word + 6u * side * side - 1u) <= 0.0 {
        return asked;
    }
    let sky = path_environment(path_point(pixel, bounce, PATH_ENVIRONMENT));
    asked.direction = sky.direction;
    asked.distance = 1.0e30;
    if dot(start.geometric_normal, sky.direction) > 0.0 && sky.density > 0.0 {
        asked.light = layers_evaluate(p.s, p.l, p.to_eye, sky.direction) * environment_prefiltered(sky.direction, 0.0)
            / (sky.density + path_density(p, sky.direction));
    }
    return asked;
}

fn path_ask_emitter(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    var asked: Asked;
    let count = unseen_zero(f32(pixel.x)) + params.emitter_count;
    let sums = params.emitter_word + count;
    if count == 0u {
        return asked;
    }
    if table_float(sums + count - 1u) <= 0.0 {
        return asked;
    }
    let chosen = path_choose(sums, count, path_point(pixel, bounce, PATH_EMITTER).x);
    let triangle = table[params.emitter_word + chosen.index];
    let u = path_point(pixel, bounce, PATH_EMITTER_POINT);
    let root = sqrt(u.x);
    let w = vec3f(1.0 - root, root * (1.0 - u.y), root * u.y);
    let i = vec3u(indices[3u * triangle], indices[3u * triangle + 1u], indices[3u * triangle + 2u]);
    let v0 = scene_position(i.x);
    let v1 = scene_position(i.y);
    let v2 = scene_position(i.z);
    let across = cross(v1 - v0, v2 - v0);
    let twice_area = length(across);
    let at = w.x * v0 + w.y * v1 + w.z * v2;
    let offset = at - start.origin;
    let distance2 = dot(offset, offset);
    let direction = offset * inverseSqrt(max(distance2, 1.0e-30));
    let facing = dot(across, -direction) / max(twice_area, 1.0e-30);
    asked.direction = direction;
    // The light itself is not in the way.
    asked.distance = 0.9999 * sqrt(distance2);
    let index = table[params.emitter_word + 2u * count + chosen.index];
    let glows_behind = alpha[ALPHA_HEADER * index + ALPHA_DOUBLE_SIDED] != 0u;
    let is_seen = facing > 0.0 || (glows_behind && facing < 0.0);
    if dot(start.geometric_normal, direction) > 0.0 && is_seen && chosen.chance > 0.0 && distance2 > 0.0 {
        let uv = w.x * vec4f(scene_uv(i.x, 0u), scene_uv(i.x, 1u)) + w.y * vec4f(scene_uv(i.y, 0u), scene_uv(i.y, 1u))
            + w.z * vec4f(scene_uv(i.z, 0u), scene_uv(i.z, 1u));
        let density = chosen.chance * distance2 / (0.5 * twice_area * abs(facing));
        asked.light = layers_evaluate(p.s, p.l, p.to_eye, direction) * path_emission(index, uv)
            / (density + path_density(p, direction));
    }
    return asked;
}

@compute @workgroup_size(8, 8)
fn path(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    let zero = unseen_zero(f32(pixel.x));
    let bounces = zero + params.bounces;
    var radiance = vec3f(0.0);
    var cover = 0.0;
    // What the eye sees of a unit of radiance at the path's end.
    var carried = vec3f(1.0);
    // Density with which the path was sent on; −1 where nobody asks for the light that it finds there.
    var sent_density = -1.0;
    var sent_from = vec3f(0.0);
    var on = path_view_ray(pixel);
    var asked: array<Asked, 4>;
    var start: ShadowStart;
    var bounce = 0u;
    loop {
        var found: BvhLeafHit;
        found.leaf = BVH_MISS;
        var turn = select(RAY_LIFT, RAY_ON, bounce == 0u);
        var lift = vec3f(0.0);
        if turn == RAY_LIFT {
            let cosine = dot(start.geometric_normal, asked[RAY_LIGHT].direction);
            lift = start.lift * saturate(1.0 - cosine / max(start.grazing, 1.0e-6));
            // As common/shadow_ray.wgsl starts grazing rays.
            if !(cosine < start.grazing) {
                turn = RAY_LIGHT;
            }
        }
        var is_lifted = false;
        for (var step = 0u; step < 5u + MOST_BACKS; step++) {
            if turn == RAY_ON && !any(carried > vec3f(0.0)) {
                break;
            }
            let wanted = asked[min(turn, RAY_EMITTER)];
            let light_ray = turn == RAY_LIFT || turn == RAY_LIGHT;
            let light = asked[RAY_LIGHT].light;
            let is_wanted = turn == RAY_ON || any(select(wanted.light, light, light_ray) > vec3f(0.0));
            if !is_wanted {
                turn = select(turn + 1u, RAY_ENVIRONMENT, turn == RAY_LIFT);
                continue;
            }
            var ray = on;
            if turn == RAY_LIFT {
                ray = Ray(start.origin, 0.0, lift, 1.0);
            } else if turn == RAY_LIGHT && is_lifted {
                ray = Ray(start.origin + lift, 0.0, wanted.direction - lift / wanted.distance, wanted.distance);
            } else if turn != RAY_ON {
                ray = Ray(start.origin, 0.0, wanted.direction, wanted.distance);
            }
            // Light of lamps passes glass as it does in the fast frame; all other light is found by paths.
            passes_clear = light_ray;
            ray_seed = path_hash(pixel.x + path_hash(pixel.y + path_hash(params.index * 64u + bounce * 8u + turn)));
            let hit = bvh_traverse(ray, frame.leaf_cutoff, turn != RAY_ON);
            let is_hit = hit.leaf != BVH_MISS;
            if turn == RAY_LIFT {
                is_lifted = !is_hit;
                let is_below = dot(start.geometric_normal, asked[RAY_LIGHT].direction) <= 0.0;
                if is_hit && is_below {
                    asked[RAY_LIGHT].light = vec3f(0.0);
                }
                turn = RAY_LIGHT;
                continue;
            }
            if turn != RAY_ON {
                if !is_hit {
                    radiance += path_added(wanted.light, bounce - 1u);
                }
                turn++;
                continue;
            }
            found = hit;
            if is_hit && bounce == 0u {
                let triangle = tree_triangle(hit.leaf);
                let has_back = alpha[ALPHA_HEADER * triangle.payload + ALPHA_DOUBLE_SIDED] != 0u;
                let is_back = dot(cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0), on.direction) > 0.0;
                if is_back && !has_back && step < MOST_BACKS {
                    on.t_min = hit.t;
                    continue;
                }
            }
            break;
        }
        if !any(carried > vec3f(0.0)) {
            break;
        }
        if found.leaf == BVH_MISS {
            if bounce == 0u {
                radiance = background_radiance(on.direction);
            } else {
                var weight = 1.0;
                if sent_density >= 0.0 {
                    weight = sent_density / max(sent_density + path_environment_density(on.direction), 1.0e-30);
                }
                radiance += path_added(carried * environment_prefiltered(on.direction, 0.0) * weight, bounce - 1u);
            }
            break;
        }
        cover = 1.0;
        let triangle = tree_triangle(found.leaf);
        let across = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
        let is_back = dot(across, on.direction) > 0.0;
        let seen = (triangle.triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, is_back);
        let to_eye = -on.direction;
        let at = hit_fragment(seen, found.barycentric, on.direction, 0.0);
        path_load(triangle.payload, at.fragment.uv);
        var s = material_surface(at.fragment, material_base_color(at.fragment.uv, at.fragment.color), at.front);
        if s.unlit {
            radiance += carried * s.albedo * frame.unlit_radiance;
            break;
        }
        start = shadow_ray_start(seen, s.position);
        s.smooth_normal = start.smooth_normal;
        let l = material_layers(at.fragment, s, at.front, to_eye);
        let is_inside = is_back && l.volume_ior > 0.0 && l.transmission > 0.0;
        if is_inside {
            carried *= exp(-l.absorption * found.t);
        }
        let has_back = alpha[ALPHA_HEADER * triangle.payload + ALPHA_DOUBLE_SIDED] != 0u;
        if any(s.emissive > vec3f(0.0)) && (!is_back || has_back) {
            var weight = 1.0;
            if sent_density >= 0.0 {
                let offset = s.position - sent_from;
                let area = 0.5 * abs(dot(across, on.direction));
                let density = path_emitter_chance(triangle.triangle) * dot(offset, offset) / max(area, 1.0e-30);
                weight = sent_density / max(sent_density + density, 1.0e-30);
            }
            let under = 1.0 - layers_coat(l, to_eye);
            radiance += path_added(carried * s.emissive * (under * weight), max(bounce, 1u) - 1u);
        }
        if bounce >= bounces {
            break;
        }
        let p = path_surface(s, l, to_eye);
        let choices = path_point(pixel, bounce, PATH_CHOICE);
        let u = path_point(pixel, bounce, PATH_DIRECTION);
        asked = array<Asked, 4>();
        if !is_inside {
            asked[RAY_LIGHT] = path_ask_light(p, start, pixel, bounce);
            asked[RAY_LIGHT].light *= carried;
            asked[RAY_ENVIRONMENT] = path_ask_environment(p, start, pixel, bounce);
            asked[RAY_ENVIRONMENT].light *= carried;
            asked[RAY_EMITTER] = path_ask_emitter(p, start, pixel, bounce);
            asked[RAY_EMITTER].light *= carried;
        }
        let through_from = 1.0 - p.chances.w;
        if is_inside || choices.x >= through_from {
            let choice = select((choices.x - through_from) / max(p.chances.w, 1.0e-20), choices.x, is_inside);
            let through = path_through(p, is_inside, u, choice);
            let outward = select(start.geometric_normal, -start.geometric_normal, through.enters);
            let origin = select(start.origin, 2.0 * start.position - start.origin, through.enters);
            carried *= select(vec3f(0.0), through.weight, dot(through.direction, outward) > 0.0);
            on = Ray(origin, 0.0, through.direction, 1.0e30);
            sent_density = -1.0;
        } else {
            let direction = path_reflect(p, u, choices.x);
            let density = path_density(p, direction);
            let is_above = dot(direction, start.geometric_normal) > 0.0 && density > 0.0;
            let weight = layers_evaluate(s, l, to_eye, direction) / max(density, 1.0e-30);
            carried *= select(vec3f(0.0), weight, is_above);
            on = Ray(start.origin, 0.0, direction, 1.0e30);
            sent_density = density;
        }
        sent_from = start.origin;
        if bounce >= SURE_BOUNCES {
            let goes_on = min(layers_max(carried), 1.0);
            carried *= select(0.0, 1.0 / max(goes_on, 1.0e-20), choices.y < goes_on);
        }
        bounce++;
    }
    // A number that is none would stay for good.
    let is_number = all(radiance >= vec3f(0.0)) && all(radiance < vec3f(1.0e30));
    textureStore(sample_out, pixel, vec4f(select(vec3f(0.0), radiance, is_number), cover));
}
