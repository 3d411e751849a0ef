#pragma once
#include <map>
#include <string>

namespace cambium::test {

/// A TorchScript archive whose method is given as text, with extra files.
void write_archive(const std::string& path, const std::string& text,
                   const std::map<std::string, std::string>& extra_files);

/// The same for a MACE as exported for LAMMPS: it names atoms and cut-off in buffers, the elements by their numbers.
void write_archive_with_buffers(const std::string& path, const std::string& text, double cutoff, int layers,
                                int atomic_number);

/// Sutton and Chen's copper (plugins/md/potentials/sutton_chen.hpp) with a cut-off of 6 Å and a switch of 2 Å: strictly
/// local, float64, with the keys of NequIP. It computes forces of its own, of the total energy.
std::string sutton_chen_text();
/// Three layers of message passing between two species: features from neighbours' features, and energies from the last.
std::string messages_text();
/// What NequIP's archives say.
std::map<std::string, std::string> said(const std::string& species, double cutoff, int layers);

}  // namespace cambium::test
