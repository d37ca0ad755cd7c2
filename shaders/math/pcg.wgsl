// Returns the PCG hash of a number (Jarzynski and Olano 2020, "Hash Functions for GPU Rendering").
fn pcg_hash(x: u32) -> u32 {
    let state = x * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
