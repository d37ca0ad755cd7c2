// Factors of the orthonormal real spherical harmonics on their polynomials in x, y and z (Sloan 2008, "Stupid Spherical
// Harmonics Tricks", appendix A2, without the Condon-Shortley phase). Their names are SH_l_|m|.

const SH_0 = 0.28209479177387814;
const SH_1 = 0.4886025119029199;
const SH_2_0 = 0.31539156525252;
const SH_2_1 = 1.0925484305920792;
const SH_2_2 = 0.5462742152960396;
const SH_3_0 = 0.37317633259011546;
const SH_3_1 = 0.4570457994644658;
const SH_3_2 = 1.445305721320277;
const SH_3_3 = 0.5900435899266435;
const SH_4_0 = 0.10578554691520431;
const SH_4_1 = 0.6690465435572892;
const SH_4_2 = 0.47308734787878004;
const SH_4_3 = 1.7701307697799304;
const SH_4_4 = 0.6258357354491761;
