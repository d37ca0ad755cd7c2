// Mesa's software adapter (lavapipe 22) compiles a shader anew for each value of a uniform on which alone a
// branch or a loop depends, and keeps every variant. A condition that also depends on a value which is no
// uniform is left alone, if that value is its first operand: the uniforms in front of it are written down all the
// same. Those of the fifth uniform buffer and later ones are written outside of the table: the heap is corrupted while
// the shader compiles. So it is too where such a uniform is an operand far from the condition. One branch on uniforms alone
// is enough for the whole shader to be compiled again at each dispatch: `a && b` of uniforms is one, and so is a condition
// whose number that is no uniform is a constant at the place where it is called. tests/uniform_branches.rs finds the
// conditions that read a uniform of a late buffer first.

// Returns 0 for any number that is not negative.
fn unseen_zero(number: f32) -> u32 {
    return bitcast<u32>(number) >> 31u;
}
