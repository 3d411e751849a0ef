#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/parallel/comm.hpp"
#include "core/sparse/csr.hpp"

/// Reference implementations of needed_rows: products of a sparse matrix with a tall dense one, both distributed by
/// rows.
namespace cambium::graph::rank_peers {

/// Local part of A, h and A h: the rows [first[rank], first[rank + 1]) of each; column indices are global.
struct Divided {
  const sparse::Csr<double>& own;
  std::span<const std::int64_t> first;
  const Comm& comm;
};

/// A repeatable product: out = A h, in the library's own storage order (column-major in the present ones).
class Product {
 public:
  virtual ~Product() = default;
  virtual void run() = 0;
  /// Entry k of own row i, after run().
  virtual double out(std::int64_t i, std::int64_t k) const = 0;
  /// Values of h that this rank receives in a run.
  virtual std::int64_t words() const = 0;
};

/// Entry k of row i of h, the same for every contestant.
inline double number(std::int64_t i, std::int64_t k) {
  return static_cast<double>((i * 37 + k * 101) % 1009) / 1009.0 - 0.5;
}

/// Collective.
std::unique_ptr<Product> petsc_product(const Divided& a, std::int64_t width);
std::unique_ptr<Product> tpetra_product(const Divided& a, std::int64_t width);

/// Initialises PETSc, after MPI; it must be finalised before MPI.
void start_petsc();
void end_petsc();

std::string petsc_version();
std::string tpetra_version();

}  // namespace cambium::graph::rank_peers
