#pragma once
#include <cstdint>
#include <string>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/context.hpp"

namespace cambium::io {

/// Origin of a result: program, machine, deck. Stored in every file of a run.
struct Provenance {
  std::string version;   ///< of Cambium
  std::string git_hash;  ///< of the source tree, "unknown" outside git
  std::string compiler, build_type, build_flags, instruction_set;
  std::string kokkos;  ///< version and back ends
  std::string mpi;     ///< library and version
  std::string hdf5;    ///< version, "parallel" or "serial"
  std::string blas;
  std::string host;
  std::string date;  ///< UTC, ISO 8601
  std::string command_line;
  std::int64_t ranks = 1, threads_per_rank = 1;
  std::uint64_t seed = 0;
  std::string deck;  ///< resolved YAML
};

/// For the running program, now.
Provenance provenance_of(const Context& context);

/// As attributes of group /cambium of a file.
void write_provenance(Group& root, const Provenance& provenance);
Provenance read_provenance(const Group& root);

/// As YAML text.
std::string provenance_yaml(const Provenance& provenance);

}  // namespace cambium::io
