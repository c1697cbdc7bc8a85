def get_model_metadata(): pass
def import_model(): pass
def import_to_gluon(): pass
