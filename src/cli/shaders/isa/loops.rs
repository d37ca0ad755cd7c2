//! Loops of a kernel in AMD assembly, in the format of Mesa.

use serde_json::{Value, json};

/// A loop.
#[derive(Debug, PartialEq)]
pub(super) struct Loop {
    /// Number of instructions, without nested loops.
    pub(super) instructions: usize,
    /// Nested loops, in source order.
    pub(super) within: Vec<Loop>,
}

impl Loop {
    pub(super) fn json(&self) -> Value {
        json!({
            "instructions": self.instructions,
            "loops": self.within.iter().map(Self::json).collect::<Vec<_>>(),
        })
    }
}

/// Formats loops, such as "61 (312, 123)": the instructions of a loop, followed by those of its nested loops
/// in brackets. `loops` comes from [`Loop::json`].
pub(super) fn text(loops: &Value) -> String {
    let text = |one: &Value| {
        let within = text(&one["loops"]);
        match within.as_str() {
            "" => one["instructions"].to_string(),
            _ => format!("{} ({within})", one["instructions"]),
        }
    };
    let all = loops.as_array().into_iter().flatten();
    all.map(text).collect::<Vec<_>>().join(", ")
}

/// A basic block, entered only at its label.
struct Block<'a> {
    label: &'a str,
    instructions: usize,
    targets: Vec<&'a str>,
}

/// Finds the outermost loops. A loop consists of a backward jump and all blocks from its target to it.
pub(super) fn loops(assembly: &str) -> Vec<Loop> {
    let blocks = blocks(assembly);
    // Last block of each loop, indexed by its first block.
    let mut ends: Vec<Option<usize>> = vec![None; blocks.len()];
    for (index, block) in blocks.iter().enumerate() {
        for target in &block.targets {
            let first = blocks[..=index].iter().position(|b| b.label == *target);
            if let Some(first) = first {
                ends[first] = ends[first].max(Some(index));
            }
        }
    }
    // Overlapping loops are merged.
    for first in (0..blocks.len()).rev() {
        if let Some(end) = ends[first] {
            ends[first] = ends[first..=end].iter().copied().max().flatten();
        }
    }
    nested(&blocks, &ends, 0, blocks.len()).1
}

/// Returns the instructions of the blocks `first..end` that are in no loop, and the loops.
fn nested(blocks: &[Block<'_>], ends: &[Option<usize>], first: usize, end: usize) -> (usize, Vec<Loop>) {
    let (mut instructions, mut loops) = (0, Vec::new());
    let mut index = first;
    while index < end {
        match ends[index] {
            Some(last) => {
                let (inner, within) = nested(blocks, ends, index + 1, last + 1);
                loops.push(Loop {
                    instructions: blocks[index].instructions + inner,
                    within,
                });
                index = last + 1;
            }
            None => {
                instructions += blocks[index].instructions;
                index += 1;
            }
        }
    }
    (instructions, loops)
}

/// Parses the blocks. Labels start at the beginning of a line, instructions follow a tab, and their encoding
/// follows a semicolon.
fn blocks(assembly: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for line in assembly.lines() {
        let label = line.strip_suffix(':').filter(|label| is_label(label));
        if let Some(label) = label {
            blocks.push(Block {
                label,
                instructions: 0,
                targets: Vec::new(),
            });
            continue;
        }
        let Some(block) = blocks.last_mut() else {
            continue;
        };
        let Some(line) = line.strip_prefix('\t') else {
            continue;
        };
        let instruction = line.split(';').next().unwrap_or_default().trim();
        if !instruction.is_empty() {
            block.instructions += 1;
            let words = instruction.split([' ', ',']);
            block.targets.extend(words.filter(|word| is_label(word)));
        }
    }
    blocks
}

fn is_label(word: &str) -> bool {
    let number = word.strip_prefix("BB");
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(loops: &[Loop]) -> String {
        text(&loops.iter().map(Loop::json).collect())
    }

    #[test]
    fn nested_loops_count_their_own_instructions() {
        let assembly = "\
BB0:
\ts_mov_b32 s0, s5      ; be800005
BB1:
\tv_add_f32 v0, v1, v2  ; 06000501
\tv_add_f32 v0, v1, v2  ; 06000501
BB2:
\tv_mul_f32 v0, v1, v2  ; 10000501
\ts_cbranch_execnz BB2  ; bf890000
BB3:
\ts_cbranch_scc1 BB5    ; bf850000
\ts_branch BB1          ; bf820000
BB5:
\ts_cbranch_vccz BB5    ; bf860000
\ts_endpgm              ; bf810000
";
        let leaf = |instructions| Loop {
            instructions,
            within: Vec::new(),
        };
        let outer = Loop {
            instructions: 4,
            within: vec![leaf(2)],
        };
        let found = loops(assembly);
        assert_eq!(printed(&found), "4 (2), 2");
        assert_eq!(found, [outer, leaf(2)]);
        assert_eq!(loops("no assembly"), []);
    }

    #[test]
    fn two_back_edges_to_one_block_are_one_loop() {
        let assembly = "BB1:\n\ta BB9\nBB2:\n\tb BB1\nBB3:\n\tc\n\ts BB1\nBB9:\n\td\n";
        assert_eq!(printed(&loops(assembly)), "4");
    }
}
