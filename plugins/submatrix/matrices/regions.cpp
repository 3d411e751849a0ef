#include "plugins/submatrix/matrices/regions.hpp"
#include "core/parallel/gather.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

AllAtoms::AllAtoms(const Particles& particles, const Comm& comm) : box(particles.box) {
  const auto own_tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.tag);
  const auto own_x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  ranges.first.assign(1, 0);
  for (auto n : comm.all_gather(particles.nlocal)) ranges.first.push_back(ranges.first.back() + static_cast<int>(n));
  std::vector<double> own;
  for (int i = 0; i < particles.nlocal; ++i)
    for (int k = 0; k < 3; ++k) own.push_back(own_x(i, k));
  tag = all_gather(std::vector<std::int64_t>(own_tag.data(), own_tag.data() + particles.nlocal), comm);
  x = all_gather(own, comm);
}

AllAtoms::AllAtoms(const Box& in, const std::vector<std::array<double, 3>>& positions, const Comm& comm) : box(in) {
  ranges = ColumnRanges::balanced(std::vector<double>(positions.size(), 1.0), comm.size());
  for (const auto& p : positions) {
    tag.push_back(static_cast<std::int64_t>(tag.size()) + 1);
    x.insert(x.end(), p.begin(), p.end());
  }
}

std::array<double, 3> AllAtoms::between(const double* a, const double* b) const {
  double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, s[3];
  box.to_fractional(d, s);
  for (double& f : s) f -= std::round(f);
  std::array<double, 3> out;
  for (std::size_t k = 0; k < 3; ++k) out[k] = s[0] * box.h[0][k] + s[1] * box.h[1][k] + s[2] * box.h[2][k];
  return out;
}

double AllAtoms::distance(const double* a, const double* b) const {
  const auto d = between(a, b);
  return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

namespace {

std::unordered_map<std::int64_t, int> numbers(const AllAtoms& atoms) {
  std::unordered_map<std::int64_t, int> out;
  for (int k = 0; k < atoms.count(); ++k) out.emplace(atoms.tag[k], k);
  return out;
}

}  // namespace

bool Regions::hold(const AllAtoms& atoms, double skin, const Comm& comm) const {
  bool holds = x_.size() == atoms.tag.size();
  for (std::size_t k = 0; holds && k < atoms.tag.size(); ++k) {
    const auto then = x_.find(atoms.tag[k]);
    holds = then != x_.end() && atoms.distance(&atoms.x[3 * k], then->second.data()) < 0.5 * skin;
  }
  for (int k = atoms.ranges.begin(comm.rank()); holds && k < atoms.ranges.end(comm.rank()); ++k)
    holds = members_.count(atoms.tag[k]) > 0;
  return comm.min(holds ? 1.0 : 0.0) > 0.0;
}

void Regions::connect(const AllAtoms& atoms, double length) {
  bonded_.clear();
  for (std::size_t i = 0; i < atoms.tag.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (atoms.distance(&atoms.x[3 * i], &atoms.x[3 * j]) < length) {
        bonded_[atoms.tag[i]].push_back(atoms.tag[j]);
        bonded_[atoms.tag[j]].push_back(atoms.tag[i]);
      }
}

void Regions::keep(const AllAtoms& atoms, const Comm& comm, const Lists& lists) {
  x_.clear();
  members_.clear();
  for (std::size_t k = 0; k < atoms.tag.size(); ++k)
    x_[atoms.tag[k]] = {atoms.x[3 * k], atoms.x[3 * k + 1], atoms.x[3 * k + 2]};
  const auto first = static_cast<std::size_t>(atoms.ranges.begin(comm.rank()));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    auto& members = members_[atoms.tag[first + i]];
    for (int k : lists[i]) members.push_back(atoms.tag[k]);
  }
}

Regions::Lists Regions::lists(const AllAtoms& atoms, const Comm& comm) const {
  const auto number = numbers(atoms);
  Lists out;
  for (int k = atoms.ranges.begin(comm.rank()); k < atoms.ranges.end(comm.rank()); ++k) {
    auto& list = out.emplace_back();
    const auto found = members_.find(atoms.tag[k]);
    if (found == members_.end())
      list.push_back(k);
    else
      for (auto tag : found->second)
        if (const auto there = number.find(tag); there != number.end()) list.push_back(there->second);
    std::sort(list.begin(), list.end());
  }
  return out;
}

BondGraph Regions::bonds(const AllAtoms& atoms) const {
  const auto number = numbers(atoms);
  BondGraph out;
  for (std::size_t k = 0; k < atoms.tag.size(); ++k) {
    if (const auto found = bonded_.find(atoms.tag[k]); found != bonded_.end())
      for (auto tag : found->second) {
        const int other = number.at(tag);
        const auto d = atoms.between(&atoms.x[3 * k], &atoms.x[3 * static_cast<std::size_t>(other)]);
        const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        out.other.push_back(other);
        for (double c : d) out.direction.push_back(c / r);
      }
    out.first.push_back(static_cast<int>(out.other.size()));
  }
  return out;
}

Regions::Lists Regions::within(const AllAtoms& atoms, const Comm& comm, double distance) {
  Lists out;
  for (int i = atoms.ranges.begin(comm.rank()); i < atoms.ranges.end(comm.rank()); ++i) {
    auto& list = out.emplace_back();
    for (int k = 0; k < atoms.count(); ++k)
      if (atoms.distance(&atoms.x[3 * static_cast<std::size_t>(i)], &atoms.x[3 * static_cast<std::size_t>(k)]) <
          distance)
        list.push_back(k);
  }
  return out;
}

std::vector<int> Regions::grown(const BondGraph& bonds, std::vector<int> list, int hops) {
  std::vector<char> in(bonds.atoms(), 0);
  for (int k : list) in[k] = 1;
  for (std::size_t done = 0; hops > 0; --hops) {
    const std::size_t end = list.size();
    for (; done < end; ++done)
      for (int e = bonds.first[list[done]]; e < bonds.first[static_cast<std::size_t>(list[done]) + 1]; ++e)
        if (char& mark = in[bonds.other[e]]; !mark) {
          mark = 1;
          list.push_back(bonds.other[e]);
        }
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace cambium::submatrix
