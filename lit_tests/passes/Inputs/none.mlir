func.func private @no_recipe()
