#include "core/particles/structure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/particles/elements.hpp"

namespace cambium {
namespace {

/// One message to each rank; row offsets may exceed an int.
template <class T>
void deal(const Comm& comm, std::vector<T>& rows, std::int64_t total) {
  MPI_Datatype row;
  MPI_Type_contiguous(sizeof(T), MPI_BYTE, &row);
  MPI_Type_commit(&row);
  const auto share = [&](int rank) { return even_share(total, rank, comm.size()); };
  constexpr int tag = 15;
  const auto [begin, end] = share(comm.rank());
  if (comm.root()) {
    for (int k = 1; k < comm.size(); ++k)
      MPI_Send(rows.data() + share(k)[0], static_cast<int>(share(k)[1] - share(k)[0]), row, k, tag, comm.handle());
    rows.resize(end);
    rows.shrink_to_fit();
  } else {
    rows.resize(end - begin);
    MPI_Recv(rows.data(), static_cast<int>(end - begin), row, 0, tag, comm.handle(), MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&row);
}

/// Species and cell are sent as text and floating-point values.
void broadcast_header(const Comm& comm, Structure& s, bool& velocities, bool& images) {
  std::string symbols;
  for (const auto& species : s.species) symbols += species.symbol + "\n";
  comm.broadcast(symbols);
  std::vector<double> numbers;
  if (comm.root()) {
    for (const auto& row : s.box.h) numbers.insert(numbers.end(), row, row + 3);
    numbers.insert(numbers.end(), s.box.origin, s.box.origin + 3);
    for (const auto& row : s.axes.q) numbers.insert(numbers.end(), row, row + 3);
    numbers.insert(numbers.end(),
                   {static_cast<double>(s.nglobal), s.v.empty() ? 0.0 : 1.0, s.image.empty() ? 0.0 : 1.0});
    for (const auto& species : s.species) numbers.push_back(species.mass);
  } else {
    s.species.clear();
    for (std::size_t at = 0; at < symbols.size();) {
      const std::size_t end = symbols.find('\n', at);
      s.species.push_back({symbols.substr(at, end - at), 0.0});
      at = end + 1;
    }
    numbers.resize(24 + s.species.size());
  }
  comm.broadcast(std::span<double>(numbers));
  for (int k = 0; k < 9; ++k) s.box.h[k / 3][k % 3] = numbers[k];
  for (int k = 0; k < 3; ++k) s.box.origin[k] = numbers[9 + k];
  for (int k = 0; k < 9; ++k) s.axes.q[k / 3][k % 3] = numbers[12 + k];
  s.nglobal = static_cast<std::int64_t>(numbers[21]);
  velocities = numbers[22] != 0.0;
  images = numbers[23] != 0.0;
  for (std::size_t k = 0; k < s.species.size(); ++k) s.species[k].mass = numbers[24 + k];
}

/// "ar" and "AR" most likely mean an element.
std::string element_in_other_case(std::string symbol) {
  for (std::size_t k = 0; k < symbol.size(); ++k) {
    const auto letter = static_cast<unsigned char>(symbol[k]);
    symbol[k] = static_cast<char>(k ? std::tolower(letter) : std::toupper(letter));
  }
  return standard_mass(symbol) > 0.0 ? fmt::format("; if the element is meant, write '{}'", symbol) : "";
}

double mass_of(const Species& declared, double from_structure) {
  if (declared.mass > 0.0) return declared.mass;
  if (from_structure > 0.0) return from_structure;
  const double mass = standard_mass(declared.symbol);
  if (mass <= 0.0)
    throw KeyError(
        "structure.species.no_mass", "species",
        fmt::format("species '{0}' is not an element, so its mass must be given: masses: {{{0}: ...}} in g/mol{1}",
                    declared.symbol, element_in_other_case(declared.symbol)));
  return mass;
}

}  // namespace

double temperature_of(const Structure& s) {
  double twice_energy = 0.0;
  for (std::size_t i = 0; i < s.v.size(); ++i) {
    const Species& species = s.species[s.type[i]];
    const double mass = species.mass > 0.0 ? species.mass : standard_mass(species.symbol);
    if (mass <= 0.0) return 0.0;
    for (const double x : s.v[i]) twice_energy += mass * x * x;
  }
  if (s.v.empty()) return 0.0;
  return constants::mvv2e * twice_energy / (3.0 * static_cast<double>(s.v.size()) * constants::boltzmann);
}

std::vector<std::string> doubtful_masses(std::span<const Species> species) {
  std::vector<std::string> out;
  for (const Species& s : species) {
    const double own = standard_mass(s.symbol), off = std::abs(s.mass - own);
    if (s.mass <= 0.0 || own <= 0.0 || off <= 0.1 * own) continue;
    std::string_view other;
    double least = off;
    const auto consider = [&](std::string_view symbol, double within) {
      const double mass = standard_mass(symbol), distance = std::abs(s.mass - mass);
      if (symbol != s.symbol && mass > 0.0 && distance < least && distance <= within) {
        other = symbol;
        least = distance;
      }
    };
    for (const Species& o : species) consider(o.symbol, off);
    for (int z = 1; other.empty() && s.symbol != "H" && !element_symbol(z).empty(); ++z)  // H is made heavy on purpose
      consider(element_symbol(z), 0.01 * standard_mass(element_symbol(z)));
    if (!other.empty())
      out.push_back(
          fmt::format("the file gives '{}' the mass {:.6g} g/mol, which is nearer to that of {} ({:.6g}) than to its "
                      "own ({:.6g}): check the order of the species, or set masses: {{{}: ...}}",
                      s.symbol, s.mass, other, standard_mass(other), own, s.symbol));
  }
  return out;
}

void scatter(const Comm& comm, Structure& s) {
  if (comm.size() == 1) return;
  bool velocities = false, images = false;
  broadcast_header(comm, s, velocities, images);
  deal(comm, s.tag, s.nglobal);
  deal(comm, s.type, s.nglobal);
  deal(comm, s.x, s.nglobal);
  if (velocities) deal(comm, s.v, s.nglobal);
  if (images) deal(comm, s.image, s.nglobal);
}

Particles particles_of(const Structure& s, std::span<const Species> declared) {
  Particles p;
  p.box = s.box;
  p.nglobal = s.nglobal;
  p.nlocal = static_cast<int>(s.tag.size());
  if (declared.empty()) declared = s.species;
  p.species.assign(declared.begin(), declared.end());
  std::vector<double> new_type(s.species.size()), given_mass(p.species.size(), 0.0);
  for (std::size_t k = 0; k < s.species.size(); ++k) {
    const int type = p.type_of(s.species[k].symbol);
    if (type < 0) {
      std::vector<std::string> symbols;
      for (const auto& d : p.species) symbols.push_back(d.symbol);
      throw KeyError(
          "structure.species.undeclared", "species",
          fmt::format("the structure holds species '{}', which is not among the deck's (species: [{}]): add it there",
                      s.species[k].symbol, fmt::join(symbols, ", ")));
    }
    new_type[k] = type;
    given_mass[type] = s.species[k].mass;
  }
  for (std::size_t k = 0; k < p.species.size(); ++k) p.species[k].mass = mass_of(p.species[k], given_mass[k]);

  p.reserve(p.nlocal);
  const auto x = Kokkos::create_mirror_view(p.x);
  const auto v = Kokkos::create_mirror_view(p.v);
  const auto tag = Kokkos::create_mirror_view(p.tag);
  const auto image = Kokkos::create_mirror_view(p.image);
  for (int i = 0; i < p.nlocal; ++i) {
    for (int k = 0; k < 3; ++k) {
      x(i, k) = s.x[i][k];
      v(i, k) = s.v.empty() ? 0.0 : s.v[i][k];
      image(i, k) = s.image.empty() ? 0 : s.image[i][k];
    }
    x(i, 3) = new_type[s.type[i]];
    tag(i) = s.tag[i];
  }
  Kokkos::deep_copy(p.x, x);
  Kokkos::deep_copy(p.v, v);
  Kokkos::deep_copy(p.tag, tag);
  Kokkos::deep_copy(p.image, image);
  p.place_sentinel();
  return p;
}

}  // namespace cambium
