#include "plugins/graph/messages/message_keys.hpp"

namespace cambium::graph {

void MessageKeys::describe(deck::Describe<MessageKeys>& d) {
  d("layers", &MessageKeys::layers, "number of message-passing layers").range(1, 32).def(3);
  d("width", &MessageKeys::width, "hidden size: number of scalar features, and of vector features, per atom")
      .at_least(1)
      .def(64);
  d("num_radial", &MessageKeys::radial, "number of radial basis functions of the distance")
      .formerly("radial")
      .at_least(1)
      .def(20);
  d("cutoff", &MessageKeys::cutoff, "cut-off distance of the messages between atoms")
      .unit("angstrom")
      .greater_than(0.5)
      .def(5.0);
  d("vector_messages", &MessageKeys::directions, "messages carry vectors, so that angles count; else distances alone")
      .formerly("directions")
      .def(true);
  d("reference", &MessageKeys::reference,
    "the fit whose rest the network learns: linear in counts of atoms, of atoms and bonds, or a kernel of Coulomb "
    "matrices or of bags of bonds (no forces), whose rest is that of each molecule left out in turn")
      .options({{"atoms", EnergyFit::Kind::atoms},
                {"bonds", EnergyFit::Kind::bonds},
                {"coulomb", EnergyFit::Kind::coulomb},
                {"bag_of_bonds", EnergyFit::Kind::bag_of_bonds}})
      .def(EnergyFit::Kind::atoms);
  d("loss", &MessageKeys::loss, "loss of standardised errors; huber is l1 beyond 0.3 standard deviations")
      .options({{"l1", Loss::l1}, {"l2", Loss::l2}, {"huber", Loss::huber}})
      .def(Loss::l1);
  d("force_weight", &MessageKeys::force_weight,
    "weight of the mean square error of forces, in units of their mean square")
      .non_negative()
      .def(0.0);
  d("precision", &MessageKeys::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
}

}  // namespace cambium::graph
