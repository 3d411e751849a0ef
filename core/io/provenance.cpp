#include "core/io/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <ctime>

#include "core/base/build_info.hpp"
#include "core/base/platform.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::io {

namespace {

struct Text {
  const char* name;
  std::string Provenance::*member;
};
constexpr Text texts[] = {{"version", &Provenance::version},
                          {"git_hash", &Provenance::git_hash},
                          {"compiler", &Provenance::compiler},
                          {"build_type", &Provenance::build_type},
                          {"build_flags", &Provenance::build_flags},
                          {"instruction_set", &Provenance::instruction_set},
                          {"kokkos", &Provenance::kokkos},
                          {"mpi", &Provenance::mpi},
                          {"hdf5", &Provenance::hdf5},
                          {"blas", &Provenance::blas},
                          {"host", &Provenance::host},
                          {"date", &Provenance::date},
                          {"command_line", &Provenance::command_line}};

/// "Open MPI v4.1.4": libraries add a page of build details after the first comma or line.
std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace

Provenance provenance_of(const Context& context) {
  const BuildInfo& build = build_info();
  Provenance p;
  p.version = build.version;
  p.git_hash = build.git_hash;
  p.compiler = build.compiler;
  p.build_type = build.build_type;
  p.build_flags = build.flags;
  p.instruction_set = build.instruction_set;
  p.kokkos = fmt::format("{} ({})", build.kokkos, build.kokkos_devices);
  p.mpi = mpi_library();
  p.hdf5 = fmt::format("{} ({})", hdf5_version(), hdf5_is_parallel() ? "parallel" : "serial");
  p.blas = build.blas;
  p.host = host_name();
  p.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  p.command_line = context.command_line;
  p.ranks = context.comm.size();
  p.threads_per_rank = HostExec().concurrency();
  p.seed = context.seed;
  p.deck = context.resolved_deck;
  return p;
}

void write_provenance(Group& root, const Provenance& p) {
  Group group = root.create_group("/cambium");
  for (const auto& text : texts) group.set_attribute(text.name, p.*text.member);
  group.set_attribute("ranks", p.ranks);
  group.set_attribute("threads_per_rank", p.threads_per_rank);
  group.set_attribute("seed", static_cast<std::int64_t>(p.seed));
  group.set_attribute("deck", p.deck);
}

Provenance read_provenance(const Group& root) {
  const Group group = root.group("/cambium");
  Provenance p;
  for (const auto& text : texts) p.*text.member = group.attribute<std::string>(text.name);
  p.ranks = group.attribute<std::int64_t>("ranks");
  p.threads_per_rank = group.attribute<std::int64_t>("threads_per_rank");
  p.seed = static_cast<std::uint64_t>(group.attribute<std::int64_t>("seed"));
  p.deck = group.attribute<std::string>("deck");
  return p;
}

std::string provenance_yaml(const Provenance& p) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const auto& text : texts) out << YAML::Key << text.name << YAML::Value << p.*text.member;
  out << YAML::Key << "ranks" << YAML::Value << p.ranks;
  out << YAML::Key << "threads_per_rank" << YAML::Value << p.threads_per_rank;
  out << YAML::Key << "seed" << YAML::Value << p.seed;
  out << YAML::Key << "deck" << YAML::Value << YAML::Literal << p.deck;
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace cambium::io
