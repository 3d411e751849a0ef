#include <petscmat.h>

#include <stdexcept>
#include <vector>

#include "bench/graph/rank_peers/rank_peer.hpp"

namespace cambium::graph::rank_peers {

namespace {

void must(PetscErrorCode code) {
  if (code != 0) throw std::runtime_error("PETSc: error " + std::to_string(static_cast<int>(code)));
}

class PetscProduct : public Product {
 public:
  PetscProduct(const Divided& d, std::int64_t width) : width_(width), rows_(d.own.rows) {
    const std::vector<PetscInt> start(d.own.start.begin(), d.own.start.end());
    const std::vector<PetscInt> column(d.own.column.begin(), d.own.column.end());
    const auto rows = static_cast<PetscInt>(rows_), all = static_cast<PetscInt>(d.first.back());
    must(MatCreateMPIAIJWithArrays(MPI_COMM_WORLD, rows, rows, all, all, start.data(), column.data(),
                                   d.own.value.data(), &a_));
    must(MatCreateDense(MPI_COMM_WORLD, rows, PETSC_DECIDE, all, static_cast<PetscInt>(width), nullptr, &h_));
    fill(d.first[d.comm.rank()]);
    must(MatMatMult(a_, h_, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &y_));
  }
  ~PetscProduct() override { MatDestroy(&y_), MatDestroy(&h_), MatDestroy(&a_); }
  void run() override { must(MatMatMult(a_, h_, MAT_REUSE_MATRIX, PETSC_DEFAULT, &y_)); }
  double out(std::int64_t i, std::int64_t k) const override {
    const PetscScalar* values = nullptr;
    must(MatDenseGetArrayRead(y_, &values));
    const double value = values[k * rows_ + i];
    must(MatDenseRestoreArrayRead(y_, &values));
    return value;
  }
  std::int64_t words() const override {
    PetscInt count = 0;
    must(MatGetGhosts(a_, &count, nullptr));
    return count * width_;
  }

 private:
  void fill(std::int64_t first) {
    PetscScalar* values = nullptr;
    must(MatDenseGetArrayWrite(h_, &values));
    for (std::int64_t k = 0; k < width_; ++k)
      for (std::int64_t i = 0; i < rows_; ++i) values[k * rows_ + i] = number(first + i, k);
    must(MatDenseRestoreArrayWrite(h_, &values));
    must(MatAssemblyBegin(h_, MAT_FINAL_ASSEMBLY));
    must(MatAssemblyEnd(h_, MAT_FINAL_ASSEMBLY));
  }
  std::int64_t width_, rows_;
  Mat a_ = nullptr, h_ = nullptr, y_ = nullptr;
};

}  // namespace

std::unique_ptr<Product> petsc_product(const Divided& a, std::int64_t width) {
  return std::make_unique<PetscProduct>(a, width);
}

void start_petsc() { must(PetscInitializeNoArguments()); }
void end_petsc() { must(PetscFinalize()); }

std::string petsc_version() {
  return std::to_string(PETSC_VERSION_MAJOR) + "." + std::to_string(PETSC_VERSION_MINOR) + "." +
         std::to_string(PETSC_VERSION_SUBMINOR);
}

}  // namespace cambium::graph::rank_peers
