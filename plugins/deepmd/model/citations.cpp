#include "plugins/deepmd/model/citations.hpp"

namespace cambium::deepmd {

std::vector<Citation> model_citations() {
  return {
      {"Zhang2018DeePMD",
       "@article{Zhang2018DeePMD, author = {Zhang, Linfeng and Han, Jiequn and Wang, Han and Car, Roberto and E, "
       "Weinan}, title = {Deep Potential Molecular Dynamics: A Scalable Model with the Accuracy of Quantum Mechanics}, "
       "journal = {Phys. Rev. Lett.}, volume = {120}, pages = {143001}, year = {2018}, doi = "
       "{10.1103/PhysRevLett.120.143001}}"},
      {"Zhang2018DeepPotSE",
       "@inproceedings{Zhang2018DeepPotSE, author = {Zhang, Linfeng and Han, Jiequn and Wang, Han and Saidi, Wissam "
       "and Car, Roberto and E, Weinan}, title = {End-to-end Symmetry Preserving Inter-atomic Potential Energy Model "
       "for Finite and Extended Systems}, booktitle = {Advances in Neural Information Processing Systems}, volume = "
       "{31}, year = {2018}}"},
      {"Zeng2023DeePMDkit",
       "@article{Zeng2023DeePMDkit, author = {Zeng, Jinzhe and others}, title = {{DeePMD-kit v2}: A software package "
       "for deep potential models}, journal = {J. Chem. Phys.}, volume = {159}, pages = {054801}, year = {2023}, doi = "
       "{10.1063/5.0155600}}"}};
}

}  // namespace cambium::deepmd
