// Lights of a pair whose shadows are filtered: 1 where the second has no size, or is none; nothing is read or kept of it
// then. Such pairs have kernels of their own, because software adapters pay for what a uniform leaves out.
override SHADOW_LIGHTS: u32 = 2u;
