#include "my_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::my_writer {

void MyWriter::Params::describe(deck::Describe<Params>& d) {
  d("every", &Params::every, "steps between two samples").at_least(1).def(100);
  d("bins", &Params::bins, "slabs along the axis").range(1, 100000).def(50);
  d("axis", &Params::axis, "cell vector along which the slabs are stacked").options({"a", "b", "c"}).def("c");
}

MyWriter::MyWriter(const Params& params, Context& context)
    : params_(params), context_(context), axis_(params.axis[0] - 'a'), sum_(params.bins, 0.0) {}

/// Each rank counts its own particles; the sum over ranks is the same on all of them.
void MyWriter::observe(const State& state, std::int64_t, double) {
  const Particles& p = state.particles;
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
  std::vector<double> count(sum_.size(), 0.0);
  const int last = params_.bins - 1;
  for (int i = 0; i < p.nlocal; ++i) {
    const double at[3] = {x(i, 0), x(i, 1), x(i, 2)};
    double s[3];
    p.box.to_fractional(at, s);
    const double inside = s[axis_] - std::floor(s[axis_]);
    count[std::min(last, static_cast<int>(inside * params_.bins))] += 1.0;
  }
  context_.comm.sum(std::span<double>(count));
  for (std::size_t k = 0; k < count.size(); ++k) sum_[k] += count[k] * params_.bins / p.box.volume();
  samples_ += 1.0;
}

std::vector<double> MyWriter::density() const {
  std::vector<double> out = sum_;
  for (double& n : out) n /= std::max(1.0, samples_);
  return out;
}

void MyWriter::finish(const State&) {
  std::vector<double> centre;
  for (int k = 0; k < params_.bins; ++k) centre.push_back((k + 0.5) / params_.bins);
  io::on_root(context_.comm, [&] {
    io::write_csv(context_.run_directory + "/my_writer.csv", {{"fraction", "", ""}, {"density", "1/angstrom^3", ""}},
                  {centre, density()});
  });
}

void MyWriter::save(io::Group& group) const {
  group.write("sum", sum_);
  group.write("samples", samples_);
}

void MyWriter::load(const io::Group& group) {
  auto sum = group.read<std::vector<double>>("sum");
  if (sum.size() != sum_.size())
    throw InputError(
        fmt::format("my_writer: the checkpoint has {} bins but this deck has {}: resume with the deck that wrote it",
                    sum.size(), sum_.size()));
  sum_ = std::move(sum);
  samples_ = group.read<double>("samples");
}

}  // namespace cambium::my_writer
