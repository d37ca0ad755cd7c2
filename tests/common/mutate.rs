//! Mutates files at random, in the same way for the same seed, as input of the mutation tests and the fuzz
//! targets.

use serde_json::{Value, json};

/// Bytes that formats treat specially, as numbers and as text.
const WORDS: [&[u8]; 30] = [
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\0\0\0\0",
    b"\x01\0\0\0",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
    b"\0\0\xc0\x7f",
    b"\0\0\x80\x7f",
    b"\0\0\x80\xff",
    b"\x01\0\0\0",
    b"\xff\xff\x7f\x7f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"-1",
    b"0",
    b"4294967295",
    b"18446744073709551616",
    b"1e308",
    b"nan",
    b"1.#IND",
    b"/",
    b"\n",
    b"\\\n",
    b" ",
    b"\"",
    b"../",
    b"data:,",
    b"\xef\xbb\xbf",
];

/// A source of random changes.
#[derive(Debug)]
pub(crate) struct Mutator(pub(crate) u64);

impl Mutator {
    /// Random bits from xorshift64* (Vigna 2016).
    fn bits(&mut self) -> u64 {
        self.0 = self.0.max(1);
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, count: usize) -> usize {
        (self.bits() % count.max(1) as u64) as usize
    }

    /// A file made from `seed`, with parts of `other`. A GLB keeps its structure half of the time.
    pub(crate) fn mutate(&mut self, seed: &[u8], other: &[u8]) -> Vec<u8> {
        let structured = self.below(2) == 0;
        if structured && let Some((mut json, mut bin)) = glb_parts(seed) {
            for _ in 0..=self.below(3) {
                match self.below(4) {
                    0 if !bin.is_empty() => self.change(&mut bin, other),
                    _ => self.change_json(&mut json),
                }
            }
            return glb(&json, &bin);
        }
        if structured && let Ok(mut json) = serde_json::from_slice::<Value>(seed) {
            for _ in 0..=self.below(3) {
                self.change_json(&mut json);
            }
            return json.to_string().into_bytes();
        }
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, other);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len());
        let length = 1 + self.below(64).min(bytes.len() - at);
        let end = (at + length).min(bytes.len());
        match self.below(8) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            1 if !bytes.is_empty() => bytes[at] = self.bits() as u8,
            2 => {
                let word = WORDS[self.below(WORDS.len())];
                let end = (at + word.len()).min(bytes.len());
                bytes.splice(at..end, word.iter().copied());
            }
            3 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            4 if self.below(4) == 0 => bytes.truncate(at),
            5 => {
                bytes.drain(at..end);
            }
            6 => {
                let chunk = bytes[at..end].to_vec();
                let at = self.below(bytes.len());
                bytes.splice(at..at, chunk);
            }
            _ if !other.is_empty() => {
                let from = self.below(other.len());
                let to = (from + length).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            _ => {}
        }
    }

    fn change_json(&mut self, root: &mut Value) {
        let elsewhere = self.somewhere(root).clone();
        let value = self.somewhere(root);
        let choice = self.below(12);
        match (choice, &mut *value) {
            (0, Value::Object(map)) if !map.is_empty() => {
                let key = map.keys().nth(self.below(map.len())).cloned();
                key.map(|key| map.remove(&key));
            }
            (1, Value::Array(list)) if !list.is_empty() => {
                list.remove(self.below(list.len()));
            }
            (2, Value::Array(list)) if !list.is_empty() => {
                let copy = list[self.below(list.len())].clone();
                for _ in 0..=self.below(8) {
                    list.push(copy.clone());
                }
            }
            (3, _) => *value = elsewhere,
            (4, Value::String(text)) => {
                let mut bytes = std::mem::take(text).into_bytes();
                self.change(&mut bytes, b"%2e%2e/C:\\file:///dev/zero");
                *text = String::from_utf8_lossy(&bytes).into_owned();
            }
            (5..=7, Value::Number(number)) => {
                let near = number.as_i64().unwrap_or(0);
                let step = [1, -1, 2, 3, 4, 12, 1 << 16, 1 << 32][self.below(8)];
                *value = json!(near.wrapping_add(step));
            }
            _ => *value = self.odd_value(),
        }
    }

    /// A random value in the JSON, with deep ones as likely as others.
    fn somewhere<'a>(&mut self, mut value: &'a mut Value) -> &'a mut Value {
        loop {
            let stop = self.below(7) == 0;
            let count = match value {
                Value::Array(list) => list.len(),
                Value::Object(map) => map.len(),
                _ => 0,
            };
            if stop || count == 0 {
                return value;
            }
            let index = self.below(count);
            value = match value {
                Value::Array(list) => &mut list[index],
                Value::Object(map) => match map.values_mut().nth(index) {
                    Some(value) => value,
                    None => unreachable!("counted above"),
                },
                _ => unreachable!("counted above"),
            };
        }
    }

    fn odd_value(&mut self) -> Value {
        let values = [
            json!(-1),
            json!(0),
            json!(1),
            json!(2),
            json!(255),
            json!(65535),
            json!(4_294_967_295_u32),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1e38),
            json!(1e-45),
            json!(1e308),
            json!(0.5),
            json!(-0.0),
            json!(5120),
            json!(5126),
            json!("VEC4"),
            json!("SCALAR"),
            json!(""),
            json!("data:,"),
            json!("../x"),
            json!(null),
            json!(true),
            json!([]),
            json!({}),
            json!([0, 0, 0, 0]),
        ];
        values[self.below(values.len())].clone()
    }
}

/// The JSON and the binary chunk of a valid GLB.
fn glb_parts(bytes: &[u8]) -> Option<(Value, Vec<u8>)> {
    let chunk = |at: usize| {
        let length = bytes.get(at..at + 4)?.try_into().map(u32::from_le_bytes);
        bytes.get(at + 8..at + 8 + length.ok()? as usize)
    };
    if !bytes.starts_with(b"glTF") {
        return None;
    }
    let json = chunk(12)?;
    let bin = chunk(20 + json.len()).unwrap_or_default();
    Some((serde_json::from_slice(json).ok()?, bin.to_vec()))
}

/// A GLB of a JSON chunk and a binary chunk.
pub(crate) fn glb(json: &Value, bin: &[u8]) -> Vec<u8> {
    let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, mut data, pad) in [
        (b"JSON", json.to_string().into_bytes(), b' '),
        (b"BIN\0", bin.to_vec(), 0),
    ] {
        data.resize(data.len().next_multiple_of(4), pad);
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(data);
    }
    let length = out.len() as u32;
    out[8..12].copy_from_slice(&length.to_le_bytes());
    out
}
