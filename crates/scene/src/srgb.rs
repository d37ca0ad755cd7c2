//! sRGB transfer function (IEC 61966-2-1), for values from 0 to 1.

/// Encodes a linear value.
pub fn encode(linear: f32) -> f32 {
    if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// Decodes an encoded value to a linear one.
pub fn decode(encoded: f32) -> f32 {
    if encoded <= 0.040_45 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both directions are compared with f64, and every byte survives the round trip.
    #[test]
    fn srgb_encoding_and_decoding_follow_the_standard() {
        for step in 0..=1000_u16 {
            let value = f32::from(step) / 1000.0;
            let exact = f64::from(value);
            let encoded = match exact <= 0.003_130_8 {
                true => 12.92 * exact,
                false => 1.055 * exact.powf(1.0 / 2.4) - 0.055,
            };
            let decoded = match exact <= 0.040_45 {
                true => exact / 12.92,
                false => ((exact + 0.055) / 1.055).powf(2.4),
            };
            assert!((f64::from(encode(value)) - encoded).abs() < 1e-6, "{value}");
            assert!((f64::from(decode(value)) - decoded).abs() < 1e-6, "{value}");
        }
        for byte in 0..=255_u8 {
            let value = encode(decode(f32::from(byte) / 255.0));
            assert_eq!((255.0 * value).round() as u8, byte);
        }
    }
}
