#include "plugins/submatrix/dftb/citations.hpp"

namespace cambium::submatrix {

std::vector<Citation> dftb_citations() {
  return {
      {"Elstner1998",
       "@article{Elstner1998,\n  author = {Elstner, M. and Porezag, D. and Jungnickel, G. and Elsner, J. and Haugk, M. "
       "and Frauenheim, Th. and Suhai, S. and Seifert, G.},\n  title = {Self-consistent-charge density-functional "
       "tight-binding method for simulations of complex materials properties},\n  journal = {Physical Review B},\n  "
       "volume = {58},\n  pages = {7260--7268},\n  year = {1998},\n  doi = {10.1103/PhysRevB.58.7260}\n}\n"},
      {"Hourahine2020",
       "@article{Hourahine2020,\n  author = {Hourahine, B. and others},\n  title = {{DFTB+}, a software package for "
       "efficient approximate density functional theory based atomistic simulations},\n  journal = {The Journal of "
       "Chemical Physics},\n  volume = {152},\n  pages = {124101},\n  year = {2020},\n  doi = "
       "{10.1063/1.5143190}\n}\n"},
      {"Gaus2011",
       "@article{Gaus2011,\n  author = {Gaus, M. and Cui, Q. and Elstner, M.},\n  title = {{DFTB3}: Extension of the "
       "self-consistent-charge density-functional tight-binding method ({SCC-DFTB})},\n  journal = {Journal of "
       "Chemical "
       "Theory and Computation},\n  volume = {7},\n  pages = {931--948},\n  year = {2011},\n  doi = "
       "{10.1021/ct100684s}\n}\n"}};
}

}  // namespace cambium::submatrix
