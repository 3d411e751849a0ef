! What cambium_submatrix.h declares, for Fortran. Arrays go in as c_loc(...), with base = 1 where they count from 1; comm is an
! integer handle (MPI_COMM_WORLD of mpif.h and of the module mpi, comm%mpi_val of mpi_f08). Compile it with your program and link
! libcambium_submatrix.
module cambium_submatrix
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(c) :: cambium_blocks
    integer(c_int) :: blocks
    type(c_ptr) :: functions
    integer(c_int) :: first_block, own_blocks
  end type
  type, bind(c) :: cambium_csr
    type(c_ptr) :: row_start, column, value
    integer(c_int) :: base
  end type
  type, bind(c) :: cambium_density_options
    real(c_double) :: electrons, mu
    integer(c_int) :: use_mu
    real(c_double) :: eps, eps_overlap, kt
    integer(c_int) :: float32, diagonalise, error_sample
    type(c_funptr) :: progress
    type(c_ptr) :: user
    real(c_double) :: magnetisation
    integer(c_int) :: use_magnetisation
    real(c_double) :: overlap_threshold
  end type
  type, bind(c) :: cambium_density_result
    real(c_double) :: energy, electrons, entropy_term, mu, gap_low, gap_high, idempotency, energy_change, smallest_overlap, &
      energy_margin
  end type
  interface
    subroutine cambium_density_defaults(options) bind(c)
      import :: cambium_density_options
      type(cambium_density_options), intent(out) :: options
    end subroutine
    integer(c_int) function cambium_density_matrix_f(comm, blocks, hamiltonian, overlap, options, result, &
        density, energy_density) bind(c)
      import :: c_int, c_double, cambium_blocks, cambium_csr, cambium_density_options, cambium_density_result
      integer(c_int), value :: comm
      type(cambium_blocks), intent(in) :: blocks
      type(cambium_csr), intent(in) :: hamiltonian, overlap
      type(cambium_density_options), intent(in) :: options
      type(cambium_density_result), intent(out) :: result
      real(c_double), intent(out) :: density(*), energy_density(*)
    end function
    ! Two spins: result has two entries, density and energy_density two addresses, c_loc(...) or c_null_ptr.
    integer(c_int) function cambium_density_matrix_spin_f(comm, blocks, hamiltonian_up, hamiltonian_down, overlap, options, &
        result, density, energy_density) bind(c)
      import :: c_int, c_ptr, cambium_blocks, cambium_csr, cambium_density_options, cambium_density_result
      integer(c_int), value :: comm
      type(cambium_blocks), intent(in) :: blocks
      type(cambium_csr), intent(in) :: hamiltonian_up, hamiltonian_down, overlap
      type(cambium_density_options), intent(in) :: options
      type(cambium_density_result), intent(out) :: result(2)
      type(c_ptr), intent(in) :: density(2), energy_density(2)
    end function
    type(c_ptr) function cambium_submatrix_message() bind(c)
      import :: c_ptr
    end function
  end interface
end module
