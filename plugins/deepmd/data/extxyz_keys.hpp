#pragma once
#include <string>

#include "core/base/units.hpp"
#include "core/deck/describe.hpp"
#include "plugins/deepmd/data/extxyz_frames.hpp"

namespace cambium::deepmd {

/// The keys of a deck that name the labels of extended XYZ files, and their units.
struct ExtxyzKeys {
  std::string energy = "energy", force = "forces", virial = "virial", stress = "stress";
  std::string energy_unit = "eV", length_unit = "angstrom";

  ExtxyzLabels labels() const;
  /// "" when the units are those of an energy and a length.
  std::string wrong_unit() const;
  static void describe(deck::Describe<ExtxyzKeys>& d) { describe_in(d); }
  /// The same keys among others, of a type derived from this one.
  template <class P>
  static void describe_in(deck::Describe<P>& d);
};

template <class P>
void ExtxyzKeys::describe_in(deck::Describe<P>& d) {
  d("energy", &ExtxyzKeys::energy, "key of the comment line that holds the energy").def("energy");
  d("force", &ExtxyzKeys::force, "columns that hold the forces").def("forces");
  d("virial", &ExtxyzKeys::virial, "key of the virial in the comment line, nine values").def("virial");
  d("stress", &ExtxyzKeys::stress,
    "key that holds the stress as ASE writes it (virial = -volume * stress), used where there is no virial")
      .def("stress");
  d("energy_unit", &ExtxyzKeys::energy_unit, "unit of the file's energies").def("eV");
  d("length_unit", &ExtxyzKeys::length_unit, "unit of the file's lengths").def("angstrom");
  d.check([](const P& p) { return p.wrong_unit(); });
}

}  // namespace cambium::deepmd
