//! Checked sequential reads from bytes.

/// Byte slice with a read position.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Moves the read position to `at`.
    pub(super) fn seek(&mut self, at: u64) -> Result<(), String> {
        let length = self.bytes.len();
        let inside = usize::try_from(at).ok().filter(|at| *at <= length);
        self.at = inside.ok_or_else(|| format!("refers to byte {at}, and has {length}"))?;
        Ok(())
    }

    /// Returns the read position.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns the unread bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Reads `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let taken = self.rest().get(..count).ok_or_else(|| {
            let (at, length) = (self.at, self.bytes.len());
            format!("is cut off: {count} bytes are needed at byte {at}, and it has {length}")
        })?;
        self.at += count;
        Ok(taken)
    }

    /// Reads bytes into an array.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, String> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, String> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, String> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, String> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Result<f64, String> {
        self.array().map(f64::from_le_bytes)
    }

    /// Reads `N` numbers.
    pub(super) fn f64s<const N: usize>(&mut self) -> Result<[f64; N], String> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            *number = self.f64()?;
        }
        Ok(numbers)
    }

    /// Reads the words of a mask of `N` × 64 bits.
    pub(super) fn mask<const N: usize>(&mut self) -> Result<[u64; N], String> {
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(self.take(8 * N)?.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        }
        Ok(words)
    }
}
