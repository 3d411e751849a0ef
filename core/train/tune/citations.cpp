#include "core/train/tune/citations.hpp"

namespace cambium::tune {

std::vector<Citation> search_citations(bool evolution, bool tpe) {
  std::vector<Citation> out;
  if (evolution)
    out.push_back({"Real2019", R"(@inproceedings{Real2019,
  author = {Real, Esteban and Aggarwal, Alok and Huang, Yanping and Le, Quoc V.},
  title = {Regularized evolution for image classifier architecture search},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  volume = {33}, pages = {4780--4789}, year = {2019}, doi = {10.1609/aaai.v33i01.33014780}
})"});
  if (tpe)
    out.push_back({"Bergstra2011", R"(@inproceedings{Bergstra2011,
  author = {Bergstra, James and Bardenet, R{\'e}mi and Bengio, Yoshua and K{\'e}gl, Bal{\'a}zs},
  title = {Algorithms for hyper-parameter optimization},
  booktitle = {Advances in Neural Information Processing Systems}, volume = {24}, year = {2011}
})"});
  return out;
}

}  // namespace cambium::tune
