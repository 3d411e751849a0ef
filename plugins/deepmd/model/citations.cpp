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

std::vector<Citation> model_citations(const DeepPotentialModel& model) {
  std::vector<Citation> out = model_citations();
  for (const DeepPotentialModel& part : model.descriptors()) {
    if (part.descriptor != DeepPotentialModel::Descriptor::se_atten) continue;
    out.push_back({"Zhang2024DPA1",
                   "@article{Zhang2024DPA1, author = {Zhang, Duo and others}, title = {{DPA-1}: pretraining of "
                   "attention-based deep potential model for molecular simulation}, journal = {npj Comput. Mater.}, "
                   "volume = {10}, pages = {94}, year = {2024}, doi = {10.1038/s41524-024-01278-7}}"});
    break;
  }
  return out;
}

}  // namespace cambium::deepmd
