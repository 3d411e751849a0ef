#include "plugins/podlstm/citations/citations.hpp"

namespace cambium::podlstm {

std::vector<Citation> pod_citations(bool randomized) {
  std::vector<Citation> out = {{"Sirovich1987", R"(@article{Sirovich1987,
  author = {Sirovich, Lawrence}, title = {Turbulence and the dynamics of coherent structures. Part I: Coherent structures},
  journal = {Quarterly of Applied Mathematics}, volume = {45}, pages = {561--571}, year = {1987}, doi = {10.1090/qam/910462}
})"}};
  if (randomized)
    out.push_back({"Halko2011", R"(@article{Halko2011,
  author = {Halko, N. and Martinsson, P. G. and Tropp, J. A.},
  title = {Finding structure with randomness: Probabilistic algorithms for constructing approximate matrix decompositions},
  journal = {SIAM Review}, volume = {53}, pages = {217--288}, year = {2011}, doi = {10.1137/090771806}
})"});
  return out;
}

std::vector<Citation> forecast_citations() {
  return {{"Maulik2020", R"(@inproceedings{Maulik2020,
  author = {Maulik, Romit and Egele, Romain and Lusch, Bethany and Balaprakash, Prasanna},
  title = {Recurrent neural network architecture search for geophysical emulation},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year = {2020}, doi = {10.1109/SC41405.2020.00012}
})"}};
}

}  // namespace cambium::podlstm
