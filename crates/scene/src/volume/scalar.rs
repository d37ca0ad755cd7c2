//! Number types in volume files.

use half::f16;

/// Number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Scalar {
    /// Returns the size in bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Decodes the number in the first [`Self::bytes`] of `bytes`, or returns 0 if there are fewer bytes.
    pub(super) fn decode(self, bytes: &[u8], big_endian: bool) -> f64 {
        let mut raw = [0; 8];
        let count = self.bytes();
        let Some(bytes) = bytes.get(..count) else {
            return 0.0;
        };
        raw[..count].copy_from_slice(bytes);
        if big_endian {
            raw[..count].reverse();
        }
        let [a, b, c, d, ..] = raw;
        match self {
            Self::I8 => f64::from(a as i8),
            Self::U8 => f64::from(a),
            Self::I16 => f64::from(i16::from_le_bytes([a, b])),
            Self::U16 => f64::from(u16::from_le_bytes([a, b])),
            Self::F16 => f16::from_le_bytes([a, b]).to_f64(),
            Self::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Self::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Self::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Self::I64 => i64::from_le_bytes(raw) as f64,
            Self::U64 => u64::from_le_bytes(raw) as f64,
            Self::F64 => f64::from_le_bytes(raw),
        }
    }
}

/// Converts numbers for grids. Those that are not finite become 0 and are counted.
#[derive(Debug, Default)]
pub(super) struct Finite {
    /// Number of values that were not finite.
    pub(super) replaced: u64,
}

impl Finite {
    pub(super) fn of(&mut self, value: f64) -> f32 {
        let value = value as f32;
        if value.is_finite() {
            return value;
        }
        self.replaced += 1;
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_decoded_in_both_byte_orders() {
        for (scalar, bytes, expected) in [
            (Scalar::I8, &[0xff][..], -1.0),
            (Scalar::U8, &[0xff], 255.0),
            (Scalar::I16, &[0x01, 0x80], -32767.0),
            (Scalar::U16, &[0x01, 0x80], 32769.0),
            (Scalar::F16, &[0x00, 0xc1], -2.5),
            (Scalar::I32, &[0xfe, 0xff, 0xff, 0xff], -2.0),
            (Scalar::U32, &[0xfe, 0xff, 0xff, 0xff], 4_294_967_294.0),
            (Scalar::F32, &[0, 0, 0x20, 0xc0], -2.5),
            (
                Scalar::I64,
                &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                -2.0,
            ),
            (Scalar::U64, &[0, 0, 0, 0, 0, 0, 0, 0x80], 2_f64.powi(63)),
            (Scalar::F64, &[0, 0, 0, 0, 0, 0, 4, 0xc0], -2.5),
        ] {
            assert_eq!(scalar.bytes(), bytes.len());
            assert_eq!(scalar.decode(bytes, false), expected, "{scalar:?}");
            let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
            assert_eq!(scalar.decode(&reversed, true), expected, "{scalar:?}");
        }
        assert_eq!(Scalar::F32.decode(&[1, 2, 3], false), 0.0);
    }

    #[test]
    fn non_finite_values_are_replaced_and_counted() {
        let mut finite = Finite::default();
        let kept = [1.5, f64::NAN, f64::INFINITY, 1e300, -2.0].map(|value| finite.of(value));
        assert_eq!(kept, [1.5, 0.0, 0.0, 0.0, -2.0]);
        assert_eq!(finite.replaced, 3);
    }
}
