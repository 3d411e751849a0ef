#include "core/train/tune/citations.hpp"

namespace cambium::tune {

std::vector<Citation> search_citations(Strategy strategy) {
  std::vector<Citation> out;
  if (strategy == Strategy::evolution)
    out.push_back({"Real2019", R"(@inproceedings{Real2019,
  author = {Real, Esteban and Aggarwal, Alok and Huang, Yanping and Le, Quoc V.},
  title = {Regularized evolution for image classifier architecture search},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  volume = {33}, pages = {4780--4789}, year = {2019}, doi = {10.1609/aaai.v33i01.33014780}
})"});
  if (strategy == Strategy::tpe)
    out.push_back({"Bergstra2011", R"(@inproceedings{Bergstra2011,
  author = {Bergstra, James and Bardenet, R{\'e}mi and Bengio, Yoshua and K{\'e}gl, Bal{\'a}zs},
  title = {Algorithms for hyper-parameter optimization},
  booktitle = {Advances in Neural Information Processing Systems}, volume = {24}, year = {2011}
})"});
  if (strategy == Strategy::ppo)
    out.push_back({"Schulman2017", R"(@misc{Schulman2017,
  author = {Schulman, John and Wolski, Filip and Dhariwal, Prafulla and Radford, Alec and Klimov, Oleg},
  title = {Proximal policy optimization algorithms}, year = {2017}, eprint = {1707.06347}, archiveprefix = {arXiv}
})"});
  return out;
}

}  // namespace cambium::tune
