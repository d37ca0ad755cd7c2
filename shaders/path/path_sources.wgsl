// Importance sampling of emissive triangles and of directions of the environment, with their densities. Both kinds of
// sampling use cumulative sums in the table (path/path_table.wgsl).
#import "environment/cube_map.wgsl"
#import "path/path_material.wgsl"

struct Chosen {
    index: u32,
    // Probability of the choice.
    chance: f32,
    // Random number in [0, 1) left over from the choice.
    left: f32,
}

// Returns the cumulative probability before entry `index`.
fn path_before(word: u32, index: u32) -> f32 {
    if index == 0u {
        return 0.0;
    }
    return table_float(word + index - 1u);
}

// Searches for the first entry whose cumulative sum is above `u`.
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

// Returns the probability of choosing this triangle among the emissive triangles, or 0 if it is not emissive.
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

// Returns the density per solid angle of an environment direction, from the probability of its texel and its
// coordinates on the cube face.
fn path_texel_density(chance: f32, coords: vec2f) -> f32 {
    let length2 = 1.0 + dot(coords, coords);
    let face = f32(params.environment_face);
    return chance * 0.25 * face * face * length2 * sqrt(length2);
}

// Returns the sampling density of a world-space direction.
fn path_environment_density(world: vec3f) -> f32 {
    let at = cube_map_place(environment_direction(world));
    let side = params.environment_face;
    let texel = min(vec2u(saturate(0.5 * at.coords + 0.5) * f32(side)), vec2u(side - 1u));
    let index = (at.face * side + texel.y) * side + texel.x;
    let chance = table_float(params.environment_word + index) - path_before(params.environment_word, index);
    return path_texel_density(chance, at.coords);
}

struct PathDirection {
    direction: vec3f,
    density: f32,
}

// Samples a world-space direction in proportion to the environment's luminance.
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
