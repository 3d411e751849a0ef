#include "plugins/podlstm/networks/citations.hpp"

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

std::vector<Citation> inverse_model_citations(bool ensemble) {
  std::vector<Citation> out = {{"Penland1995", R"(@article{Penland1995,
  author = {Penland, C{\'e}cile and Sardeshmukh, Prashant D.}, title = {The optimal growth of tropical sea surface temperature anomalies},
  journal = {Journal of Climate}, volume = {8}, pages = {1999--2024}, year = {1995},
  doi = {10.1175/1520-0442(1995)008<1999:TOGOTS>2.0.CO;2}
})"}};
  if (ensemble)
    out.push_back({"Ferro2014", R"(@article{Ferro2014,
  author = {Ferro, C. A. T.}, title = {Fair scores for ensemble forecasts},
  journal = {Quarterly Journal of the Royal Meteorological Society}, volume = {140}, pages = {1917--1923}, year = {2014},
  doi = {10.1002/qj.2270}
})"});
  return out;
}

std::vector<Citation> network_citations(bool gru) {
  std::vector<Citation> out = forecast_citations();
  if (gru)
    out.push_back({"Cho2014", R"(@inproceedings{Cho2014,
  author = {Cho, Kyunghyun and van Merri{\"e}nboer, Bart and Gulcehre, Caglar and Bahdanau, Dzmitry and Bougares, Fethi and Schwenk, Holger and Bengio, Yoshua},
  title = {Learning phrase representations using {RNN} encoder-decoder for statistical machine translation},
  booktitle = {EMNLP 2014}, pages = {1724--1734}, year = {2014}, doi = {10.3115/v1/D14-1179}
})"});
  else
    out.push_back({"Hochreiter1997", R"(@article{Hochreiter1997,
  author = {Hochreiter, Sepp and Schmidhuber, J{\"u}rgen}, title = {Long short-term memory},
  journal = {Neural Computation}, volume = {9}, pages = {1735--1780}, year = {1997}, doi = {10.1162/neco.1997.9.8.1735}
})"});
  return out;
}

}  // namespace cambium::podlstm
