//! Choice of the combinations to measure.

use crate::lab::{Structure, TriangleTest, Walk, kernels::Threads, ray_order::RayOrder};

/// Combination to measure, which is one row of the table for each set of rays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Combination {
    pub(super) test: TriangleTest,
    pub(super) walk: Walk,
    pub(super) structure: Structure,
    pub(super) threads: Threads,
    pub(super) order: RayOrder,
}

/// Parts that the command line names. A list is empty if it was not given.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    pub(super) tests: Vec<TriangleTest>,
    pub(super) walks: Vec<Walk>,
    pub(super) structures: Vec<Structure>,
    pub(super) threads: Vec<Threads>,
    pub(super) orders: Vec<RayOrder>,
    /// True to measure all values of the parts that are not named.
    pub(super) all: bool,
}

/// Baseline: the default of parts that are not named, and the combination that single changes are compared
/// with.
const BASE: Combination = Combination {
    test: TriangleTest::Plucker,
    walk: Walk::Private,
    structure: Structure::Sah,
    threads: Threads::PerRay,
    order: RayOrder::Compacted,
};

/// Returns the valid combinations of all named parts, with the baseline for parts that are not named. If no
/// part is named, returns all combinations that differ from the baseline in one part.
pub(super) fn plan(named: &Named) -> Vec<Combination> {
    let product = |named: &Named| -> Vec<Combination> {
        let mut found = Vec::new();
        let tests = or(&named.tests, &TriangleTest::ALL, named.all, BASE.test);
        let threads = or(&named.threads, &Threads::ALL, named.all, BASE.threads);
        let orders = or(&named.orders, &RayOrder::ALL, named.all, BASE.order);
        for (structure, walk) in ways(named) {
            for test in &tests {
                for threads in &threads {
                    found.extend(orders.iter().map(|order| Combination {
                        test: *test,
                        walk,
                        structure,
                        threads: *threads,
                        order: *order,
                    }));
                }
            }
        }
        found
    };
    let is_empty = named.tests.is_empty()
        && named.walks.is_empty()
        && named.structures.is_empty()
        && named.threads.is_empty()
        && named.orders.is_empty();
    if named.all || !is_empty {
        return product(named);
    }
    let one = Named::default;
    let parts = [
        Named {
            tests: TriangleTest::ALL.to_vec(),
            ..one()
        },
        Named {
            walks: Walk::ALL.to_vec(),
            structures: vec![Structure::Sah],
            ..one()
        },
        Named {
            structures: Structure::ALL.to_vec(),
            ..one()
        },
        Named {
            threads: Threads::ALL.to_vec(),
            ..one()
        },
        Named {
            orders: RayOrder::ALL.to_vec(),
            ..one()
        },
    ];
    let mut found: Vec<Combination> = Vec::new();
    for combination in parts.iter().flat_map(product) {
        if !found.contains(&combination) {
            found.push(combination);
        }
    }
    found
}

fn or<T: Copy>(named: &[T], every: &[T], all: bool, base: T) -> Vec<T> {
    match named {
        [] if all => every.to_vec(),
        [] => vec![base],
        named => named.to_vec(),
    }
}

/// Lists the traversals of each structure, such as "grid has cells; kd-tree has kd-short-stack".
pub(super) fn pairs() -> String {
    let of = |structure: &Structure| {
        let walks = Walk::ALL.into_iter().filter(|walk| structure.has(*walk));
        let walks: Vec<&str> = walks.map(Walk::name).collect();
        format!("{} has {}", structure.name(), walks.join(", "))
    };
    let all: Vec<String> = Structure::ALL.iter().map(of).collect();
    all.join("; ")
}

/// Returns the pairs to measure of a structure and a traversal that supports it.
fn ways(named: &Named) -> Vec<(Structure, Walk)> {
    let mut ways = Vec::new();
    for structure in Structure::ALL {
        let fits: Vec<Walk> = Walk::ALL
            .into_iter()
            .filter(|walk| structure.has(*walk))
            .collect();
        let is_named = named.structures.contains(&structure);
        // If only traversals are named, each runs on the baseline structure, or on the structure that it is
        // specific to.
        let is_for_walks =
            named.structures.is_empty() && (named.all || structure == BASE.structure || fits.len() == 1);
        if !is_named && !is_for_walks {
            continue;
        }
        let walks = fits
            .iter()
            .enumerate()
            .filter(|(number, walk)| match &named.walks[..] {
                [] => named.all || (*number == 0 && (is_named || structure == BASE.structure)),
                walks => walks.contains(walk),
            });
        ways.extend(walks.map(|(_, walk)| (structure, *walk)));
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_measures_only_named_and_compatible_combinations() {
        let whole = plan(&Named {
            all: true,
            ..Named::default()
        });
        // Three trees with six traversals, three other structures with one.
        assert_eq!(whole.len(), (3 * 6 + 3) * 6 * 2 * 4);
        assert!(whole.iter().all(|c| c.structure.has(c.walk)));
        let short = plan(&Named::default());
        assert_eq!(short.len(), 6 + 5 + 5 + 1 + 3);
        assert!(short.contains(&BASE));
        for structure in Structure::ALL {
            assert!(short.iter().any(|c| c.structure == structure), "{structure:?}");
        }
        let of = |walks: &[Walk], structures: &[Structure]| {
            let named = Named {
                walks: walks.to_vec(),
                structures: structures.to_vec(),
                ..Named::default()
            };
            plan(&named)
                .iter()
                .map(|c| (c.structure, c.walk))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&[Walk::Skip], &[]), [(Structure::Sah, Walk::Skip)]);
        assert_eq!(of(&[Walk::Grid], &[]), [(Structure::Grid, Walk::Grid)]);
        assert_eq!(of(&[], &[Structure::KdTree]), [(Structure::KdTree, Walk::KdTree)]);
        assert_eq!(of(&[Walk::Grid], &[Structure::Radix]), []);
        let tests = Named {
            tests: TriangleTest::ALL.to_vec(),
            ..Named::default()
        };
        assert_eq!(plan(&tests).len(), 6);
    }
}
