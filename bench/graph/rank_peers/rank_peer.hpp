#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/parallel/comm.hpp"
#include "core/sparse/csr.hpp"

/// Peers of needed_rows: libraries that multiply a sparse matrix by a tall dense one, both divided by rows among ranks.
namespace cambium::graph::rank_peers {

/// What a rank holds of A, h and A h: the rows [first[rank], first[rank + 1]) of each; columns are numbered through
/// all.
struct Divided {
  const sparse::Csr<double>& own;
  std::span<const std::int64_t> first;
  const Comm& comm;
};

/// A product that can be repeated: out = A h, in the library's own order of numbers (by columns in those that are
/// here).
class Product {
 public:
  virtual ~Product() = default;
  virtual void run() = 0;
  /// Number k of own row i, after run().
  virtual double out(std::int64_t i, std::int64_t k) const = 0;
  /// Numbers of h that this rank receives in a run.
  virtual std::int64_t words() const = 0;
};

/// Number k of row i of h, the same in every contestant.
inline double number(std::int64_t i, std::int64_t k) {
  return static_cast<double>((i * 37 + k * 101) % 1009) / 1009.0 - 0.5;
}

/// Collective.
std::unique_ptr<Product> petsc_product(const Divided& a, std::int64_t width);
std::unique_ptr<Product> tpetra_product(const Divided& a, std::int64_t width);

/// PETSc wants to be started once, after MPI, and ended before it.
void start_petsc();
void end_petsc();

std::string petsc_version();
std::string tpetra_version();

}  // namespace cambium::graph::rank_peers
