//! CPU reference of `light_choice`: samples the lights that a pixel casts shadow rays to.

/// Sampled light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Index of the light.
    pub light: usize,
    /// Number of slots that the light takes.
    pub times: u32,
    /// Factor on its light for each slot.
    pub weight: f64,
}

/// Samples lights for `slots` in proportion to their weights, with a random number `u` in [0, 1). Slot k
/// takes the light at (u + k) / slots of the cumulative weights.
pub fn choose(weights: &[f64], slots: u32, u: f64) -> Vec<Chosen> {
    let step = weights.iter().sum::<f64>() / f64::from(slots);
    let (mut sum, mut taken) = (0.0, 0);
    let mut chosen = Vec::new();
    for (light, weight) in weights.iter().enumerate() {
        sum += weight;
        let past = (sum / step - u).ceil().max(0.0) as u32;
        let times = past.clamp(taken, slots) - taken;
        if *weight > 0.0 && times > 0 {
            taken += times;
            let weight = step / weight;
            chosen.push(Chosen { light, times, weight });
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_selection_is_unbiased() {
        let weights = [0.5, 0.0, 3.0, 0.25, 8.0, 0.01, 1.0];
        for slots in [1, 2, 5, 16] {
            let mut sums = [0.0; 7];
            const TRIES: u32 = 100_000;
            for i in 0..TRIES {
                let u = (f64::from(i) + 0.5) / f64::from(TRIES);
                let chosen = choose(&weights, slots, u);
                let slots_taken: u32 = chosen.iter().map(|chosen| chosen.times).sum();
                assert_eq!(slots_taken, slots);
                for Chosen { light, times, weight } in chosen {
                    sums[light] += f64::from(times) * weight / f64::from(TRIES);
                }
            }
            for (sum, weight) in sums.iter().zip(weights) {
                let expected = if weight > 0.0 { 1.0 } else { 0.0 };
                assert!((sum - expected).abs() < 0.01, "{slots} slots: {sums:?}");
            }
        }
    }
}
