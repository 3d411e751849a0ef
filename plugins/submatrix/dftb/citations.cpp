#include "plugins/submatrix/dftb/citations.hpp"

namespace cambium::submatrix {

std::vector<Citation> dftb_citations(const DftbKeys& keys) {
  std::vector<Citation> out{
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
  if (keys.spin)
    out.push_back(
        {"Kohler2007",
         "@article{Kohler2007,\n  author = {K{\\\"o}hler, C. and Frauenheim, T. and Hourahine, B. and Seifert, G. and "
         "Sternberg, M.},\n  title = {Treatment of collinear and noncollinear electron spin within an "
         "approximate density functional based method},\n  journal = {The Journal of Physical Chemistry A},\n  "
         "volume = {111},\n  pages = {5622--5629},\n  year = {2007},\n  doi = {10.1021/jp068802p}\n}\n"});
  if (keys.dispersion && keys.dispersion->lennard_jones)
    out.push_back(
        {"Zhechkov2005",
         "@article{Zhechkov2005,\n  author = {Zhechkov, L. and Heine, Th. and Patchkovskii, S. and Seifert, G. "
         "and Duarte, H. A.},\n  title = {An efficient a posteriori treatment for dispersion interaction in "
         "density-functional-based tight binding},\n  journal = {Journal of Chemical Theory and "
         "Computation},\n  volume = {1},\n  pages = {841--847},\n  year = {2005},\n  doi = "
         "{10.1021/ct050065y}\n}\n"});
  if (keys.dispersion && keys.dispersion->slater_kirkwood)
    out.push_back({"Elstner2001",
                   "@article{Elstner2001,\n  author = {Elstner, M. and Hobza, P. and Frauenheim, T. and Suhai, S. and "
                   "Kaxiras, E.},\n  title = {Hydrogen bonding and stacking interactions of nucleic acid base pairs: A "
                   "density-functional-theory based treatment},\n  journal = {The Journal of Chemical Physics},\n  "
                   "volume = {114},\n  pages = {5149--5155},\n  year = {2001},\n  doi = {10.1063/1.1329889}\n}\n"});
  return out;
}

}  // namespace cambium::submatrix
