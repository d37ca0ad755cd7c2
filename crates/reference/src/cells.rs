//! CPU reference of `cell_claims`: which slot of the world cache each cell gets.

use std::collections::BTreeMap;

/// Number of slots that a key may take.
const PROBES: u32 = 3;
const CHECKSUM: u32 = 0x1fff_ffff;

/// Key of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellKey {
    /// Slot of the first probe.
    pub slot: u32,
    /// Checksum of 29 bits, not 0.
    pub checksum: u32,
}

pub(crate) fn pcg_hash(x: u32) -> u32 {
    let state = x.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (word >> 22) ^ word
}

impl CellKey {
    /// Returns the key whose word is in a slot of a table of `slots` slots, a power of two.
    pub fn from_word(word: u32, slot: u32, slots: u32) -> Self {
        let checksum = (word >> 2) & CHECKSUM;
        let step = pcg_hash(checksum) | 1;
        let first = slot.wrapping_sub(step.wrapping_mul(word & 3)) & (slots - 1);
        Self {
            slot: first,
            checksum,
        }
    }

    /// Returns the slot of a probe, and the word that is stored there.
    fn probe(self, probe: u32, slots: u32) -> (u32, u32) {
        let step = pcg_hash(self.checksum) | 1;
        let slot = self.slot.wrapping_add(step.wrapping_mul(probe)) & (slots - 1);
        (slot, (self.checksum << 2) | probe)
    }
}

/// Returns the words by slot after all keys have claimed slots of an empty table, by deferred acceptance (Gale
/// and Shapley 1962). Each key prefers its earlier probes, and each slot prefers larger words.
pub fn claimed(keys: impl IntoIterator<Item = CellKey>, slots: u32) -> BTreeMap<u32, u32> {
    let mut table = BTreeMap::new();
    let mut open: Vec<_> = keys.into_iter().map(|key| (key, 0)).collect();
    while let Some((key, probe)) = open.pop() {
        if probe == PROBES {
            continue;
        }
        let (slot, word) = key.probe(probe, slots);
        let held = table.get(&slot).copied().unwrap_or(0);
        if word > held {
            table.insert(slot, word);
            if held != 0 {
                open.push((CellKey::from_word(held, slot, slots), (held & 3) + 1));
            }
        } else if word != held {
            open.push((key, probe + 1));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full table loses keys, but always the same ones.
    #[test]
    fn the_order_of_claims_does_not_matter() {
        const SLOTS: u32 = 64;
        let keys: Vec<_> = (1..=80_u32)
            .map(|i| CellKey {
                slot: pcg_hash(i) & (SLOTS - 1),
                checksum: (pcg_hash(i ^ 0x5555) & CHECKSUM).max(1),
            })
            .collect();
        let forwards = claimed(keys.iter().copied(), SLOTS);
        assert!(forwards.len() > 48 && forwards.len() <= 64, "{}", forwards.len());
        assert_eq!(forwards, claimed(keys.iter().rev().copied(), SLOTS));
        let twice = keys.iter().chain(&keys).copied();
        assert_eq!(forwards, claimed(twice, SLOTS));
        // The words say which keys they are.
        for (slot, word) in &forwards {
            assert!(keys.contains(&CellKey::from_word(*word, *slot, SLOTS)));
        }
    }
}
