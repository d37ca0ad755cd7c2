//! Change of a scene's edits and hidden nodes by one step.

use crate::{
    app::undo::renumbered::Renumbered,
    scene::edits::{AddedLight, LightEdit, LightValue, MaterialValue, SceneEdits, Value},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Values before and after. `None` means the value of the file.
pub(in crate::app) type Sides<T> = [Option<T>; 2];

/// Change of a scene's edits and hidden nodes by one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::app) struct EditChange {
    pub(in crate::app) materials: BTreeMap<(usize, MaterialValue), Sides<Value>>,
    pub(in crate::app) lights: BTreeMap<(usize, LightValue), Sides<Value>>,
    pub(in crate::app) places: BTreeMap<usize, Sides<LightEdit>>,
    /// All added lights before and after, if they differ.
    pub(in crate::app) added: Option<[Vec<AddedLight>; 2]>,
    /// Nodes that are hidden on one side only.
    pub(in crate::app) toggled: BTreeSet<usize>,
}

impl EditChange {
    /// Returns the change from the edits and hidden nodes `before` to the edits and hidden nodes `after`.
    pub(in crate::app) fn between(
        before: (&SceneEdits, &Arc<BTreeSet<usize>>),
        after: (&SceneEdits, &Arc<BTreeSet<usize>>),
    ) -> Self {
        let ([a, b], [hidden_a, hidden_b]) = ([before.0, after.0], [before.1, after.1]);
        if a == b && Arc::ptr_eq(hidden_a, hidden_b) {
            return Self::default();
        }
        Self {
            materials: differences(&flat(&a.materials), &flat(&b.materials)),
            lights: differences(&flat(&a.lights), &flat(&b.lights)),
            places: differences(&a.places, &b.places),
            added: (a.added != b.added).then(|| [a.added.clone(), b.added.clone()]),
            toggled: hidden_a.symmetric_difference(hidden_b).copied().collect(),
        }
    }

    /// True if it changes nothing.
    pub(in crate::app) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Applies the change in the direction given by `forwards`.
    pub(in crate::app) fn apply(
        &self,
        edits: &mut SceneEdits,
        hidden: &mut Arc<BTreeSet<usize>>,
        forwards: bool,
    ) {
        let side = usize::from(forwards);
        for ((index, value), sides) in &self.materials {
            put_in(&mut edits.materials, *index, *value, sides[side]);
        }
        for ((index, value), sides) in &self.lights {
            put_in(&mut edits.lights, *index, *value, sides[side]);
        }
        for (node, sides) in &self.places {
            put(&mut edits.places, *node, sides[side]);
        }
        if let Some(sides) = &self.added {
            edits.added.clone_from(&sides[side]);
        }
        if !self.toggled.is_empty() {
            *hidden = Arc::new(hidden.symmetric_difference(&self.toggled).copied().collect());
        }
    }

    /// True if both change the same values, and both change them continuously, as a slider does.
    pub(in crate::app) fn goes_on_from(&self, other: &Self) -> bool {
        let same_keys = self.materials.keys().eq(other.materials.keys())
            && self.lights.keys().eq(other.lights.keys())
            && self.places.keys().eq(other.places.keys())
            && self.added.is_some() == other.added.is_some();
        same_keys && self.is_continuous() && other.is_continuous()
    }

    fn is_continuous(&self) -> bool {
        let values = self.materials.values().chain(self.lights.values());
        let switches = |place: &Option<LightEdit>| {
            place.map_or((false, false), |place| (place.is_off, place.is_removed))
        };
        let is_off =
            |lights: &[AddedLight]| -> Vec<bool> { lights.iter().map(|light| light.is_off).collect() };
        self.toggled.is_empty()
            && values.flatten().flatten().all(|value| value.is_continuous())
            && self
                .places
                .values()
                .all(|[before, after]| switches(before) == switches(after))
            && self
                .added
                .as_ref()
                .is_none_or(|[before, after]| is_off(before) == is_off(after))
    }

    /// Appends a change that follows at once and [continues](Self::goes_on_from) this one.
    pub(in crate::app) fn extend(&mut self, later: Self) {
        join(&mut self.materials, later.materials);
        join(&mut self.lights, later.lights);
        join(&mut self.places, later.places);
        if let (Some(sides), Some([_, after])) = (&mut self.added, later.added) {
            sides[1] = after;
        }
        self.added.take_if(|[before, after]| before == after);
    }

    /// Returns the change for reloaded files, without the objects that no longer exist.
    pub(in crate::app) fn renumbered(self, to: &Renumbered) -> Self {
        let materials = self.materials.into_iter();
        let lights = self.lights.into_iter();
        let places = self.places.into_iter();
        Self {
            materials: materials
                .filter_map(|((index, value), sides)| Some(((to.material(index)?, value), sides)))
                .collect(),
            lights: lights
                .filter_map(|((index, value), sides)| Some(((to.light(index)?, value), sides)))
                .collect(),
            places: places
                .filter_map(|(node, sides)| Some((to.node(node)?, sides)))
                .collect(),
            added: self.added,
            toggled: match to.keeps_nodes() {
                true => self.toggled,
                false => BTreeSet::new(),
            },
        }
    }
}

/// Flattens nested values to one key each.
fn flat<K: Ord + Copy>(all: &BTreeMap<usize, BTreeMap<K, Value>>) -> BTreeMap<(usize, K), Value> {
    let all = all.iter();
    all.flat_map(|(index, values)| values.iter().map(|(value, to)| ((*index, *value), *to)))
        .collect()
}

fn differences<K: Ord + Copy, V: PartialEq + Copy>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
) -> BTreeMap<K, Sides<V>> {
    let keys: BTreeSet<K> = before.keys().chain(after.keys()).copied().collect();
    keys.into_iter()
        .map(|key| (key, [before.get(&key).copied(), after.get(&key).copied()]))
        .filter(|(_, [before, after])| before != after)
        .collect()
}

fn join<K: Ord, V: PartialEq>(to: &mut BTreeMap<K, Sides<V>>, later: BTreeMap<K, Sides<V>>) {
    for (key, [_, after]) in later {
        if let Some(sides) = to.get_mut(&key) {
            sides[1] = after;
        }
    }
    to.retain(|_, [before, after]| before != after);
}

fn put<K: Ord, V>(all: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => _ = all.insert(key, value),
        None => _ = all.remove(&key),
    }
}

fn put_in<K: Ord>(all: &mut BTreeMap<usize, BTreeMap<K, Value>>, index: usize, key: K, value: Option<Value>) {
    let values = all.entry(index).or_default();
    put(values, key, value);
    if values.is_empty() {
        all.remove(&index);
    }
}
