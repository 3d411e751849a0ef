! Training from Fortran, by the functions of cambium_train.h, on the arrays of a running program. Compile this file and
! cambium_model.f90 with your own compiler and link libcambium_train:
!     mpifort cambium_model.f90 cambium_train.f90 simulation.f90 $(pkg-config --libs cambium-train)
! Arrays keep Fortran's order, samples first: cambium_samples(x, name_of_x) describes x(samples) or x(samples, numbers).
! Every function returns cambium_done or another code; cambium_train_message() then says what is wrong. All but
! cambium_train_infer, cambium_train_steps and the message are collective over the communicator.
module cambium_train
  use, intrinsic :: iso_c_binding
  use cambium_model, only: cambium_array, cambium_samples, cambium_done, cambium_bad_input, cambium_numerical_failure, &
      cambium_internal_error, cambium_float64, cambium_float32, cambium_int64, cambium_int32
  implicit none
  private
  public :: cambium_array, cambium_samples, cambium_done, cambium_bad_input, cambium_numerical_failure
  public :: cambium_internal_error, cambium_float64, cambium_float32, cambium_int64, cambium_int32
  public :: cambium_train_create, cambium_train_destroy, cambium_train_step, cambium_train_evaluate
  public :: cambium_train_infer, cambium_train_save, cambium_train_load, cambium_train_write_model
  public :: cambium_train_steps, cambium_train_message

  ! A session: pass it on, do not look inside.
  type, public :: cambium_session
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  interface
    integer(c_int) function c_create(comm, deck, session) bind(c, name="cambium_train_create_f")
      import c_int, c_char, c_ptr
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: deck(*)
      type(c_ptr), intent(out) :: session
    end function
    subroutine c_destroy(session) bind(c, name="cambium_train_destroy")
      import c_ptr
      type(c_ptr), value :: session
    end subroutine
    integer(c_int) function c_step(session, arrays, count, loss) bind(c, name="cambium_train_step")
      import c_int, c_ptr, c_double, cambium_array
      type(c_ptr), value :: session
      type(cambium_array), intent(in) :: arrays(*)
      integer(c_int), value :: count
      real(c_double), intent(out) :: loss
    end function
    integer(c_int) function c_evaluate(session, arrays, count, metrics, room) bind(c, name="cambium_train_evaluate")
      import c_int, c_ptr, c_double, cambium_array
      type(c_ptr), value :: session
      type(cambium_array), intent(in) :: arrays(*)
      integer(c_int), value :: count, room
      real(c_double), intent(inout) :: metrics(*)
    end function
    integer(c_int) function c_infer(session, inputs, input_count, outputs, output_count) &
        bind(c, name="cambium_train_infer")
      import c_int, c_ptr, cambium_array
      type(c_ptr), value :: session
      type(cambium_array), intent(in) :: inputs(*), outputs(*)
      integer(c_int), value :: input_count, output_count
    end function
    integer(c_int) function c_save(session, path) bind(c, name="cambium_train_save")
      import c_int, c_char, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_load(session, path) bind(c, name="cambium_train_load")
      import c_int, c_char, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_write_model(session, path) bind(c, name="cambium_train_write_model")
      import c_int, c_char, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int64_t) function c_steps(session) bind(c, name="cambium_train_steps")
      import c_int64_t, c_ptr
      type(c_ptr), value :: session
    end function
    type(c_ptr) function c_message() bind(c, name="cambium_train_message")
      import c_ptr
    end function
    integer(c_size_t) function c_length(text) bind(c, name="strlen")
      import c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! comm: Fortran's handle, MPI_COMM_WORLD of the module mpi or comm%MPI_VAL of mpi_f08. deck: YAML text, or the name of
  ! a file. MPI must be initialised.
  integer(c_int) function cambium_train_create(comm, deck, session) result(code)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: deck
    type(cambium_session), intent(out) :: session
    code = c_create(int(comm, c_int), deck // c_null_char, session%handle)
  end function

  subroutine cambium_train_destroy(session)
    type(cambium_session), intent(inout) :: session
    call c_destroy(session%handle)
    session%handle = c_null_ptr
  end subroutine

  ! One optimizer step; `loss`: the weighted loss of the global batch.
  integer(c_int) function cambium_train_step(session, arrays, loss) result(code)
    type(cambium_session), intent(in) :: session
    type(cambium_array), intent(in) :: arrays(:)
    real(c_double), intent(out), optional :: loss
    real(c_double) :: found
    code = c_step(session%handle, arrays, size(arrays, kind=c_int), found)
    if (present(loss)) loss = found
  end function

  ! The network's metrics over the samples of all ranks, as many as there is room for.
  integer(c_int) function cambium_train_evaluate(session, arrays, metrics) result(code)
    type(cambium_session), intent(in) :: session
    type(cambium_array), intent(in) :: arrays(:)
    real(c_double), contiguous, intent(inout) :: metrics(:)
    code = c_evaluate(session%handle, arrays, size(arrays, kind=c_int), metrics, size(metrics, kind=c_int))
  end function

  ! Outputs for this rank's samples into the caller's arrays.
  integer(c_int) function cambium_train_infer(session, inputs, outputs) result(code)
    type(cambium_session), intent(in) :: session
    type(cambium_array), intent(in) :: inputs(:), outputs(:)
    code = c_infer(session%handle, inputs, size(inputs, kind=c_int), outputs, size(outputs, kind=c_int))
  end function

  ! Everything needed to go on bit for bit, in one file.
  integer(c_int) function cambium_train_save(session, path) result(code)
    type(cambium_session), intent(in) :: session
    character(len=*), intent(in) :: path
    code = c_save(session%handle, path // c_null_char)
  end function

  integer(c_int) function cambium_train_load(session, path) result(code)
    type(cambium_session), intent(in) :: session
    character(len=*), intent(in) :: path
    code = c_load(session%handle, path // c_null_char)
  end function

  ! The model file that cambium reads.
  integer(c_int) function cambium_train_write_model(session, path) result(code)
    type(cambium_session), intent(in) :: session
    character(len=*), intent(in) :: path
    code = c_write_model(session%handle, path // c_null_char)
  end function

  integer(c_int64_t) function cambium_train_steps(session) result(steps)
    type(cambium_session), intent(in) :: session
    steps = c_steps(session%handle)
  end function

  ! What the last call that failed had to say.
  function cambium_train_message() result(text)
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: pointer
    integer :: k
    pointer = c_message()
    call c_f_pointer(pointer, letters, [c_length(pointer)])
    allocate (character(len=size(letters)) :: text)
    do k = 1, size(letters)
      text(k:k) = letters(k)
    end do
  end function

end module
