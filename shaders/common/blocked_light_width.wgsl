// Widest penumbra that the filter for shadows tells apart, in pixels.
const PENUMBRA_MAX = 256.0;
